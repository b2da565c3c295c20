/** What was, what is, and what was undone. */
export interface History<T> {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /** What the last step was about; further ones about the same become one with it. */
  readonly topic: string | undefined;
}

/** Steps that can be undone. */
const stepsMax = 200;

export function startHistory<T>(present: T): History<T> {
  return { past: [], present, future: [], topic: undefined };
}

/** A step further. Steps in a row with the same topic, such as letters typed, are undone at once. */
export function advance<T>(history: History<T>, present: T, topic?: string): History<T> {
  if (present === history.present) return history;
  const isSame = topic !== undefined && topic === history.topic;
  const past = isSame ? history.past : [...history.past, history.present].slice(-stepsMax);
  return { past, present, future: [], topic };
}

export function undo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  if (past.length === 0) return history;
  const before = past[past.length - 1] as T;
  return {
    past: past.slice(0, -1),
    present: before,
    future: [present, ...future],
    topic: undefined,
  };
}

export function redo<T>(history: History<T>): History<T> {
  const { past, present, future } = history;
  if (future.length === 0) return history;
  const [after, ...rest] = future as [T, ...T[]];
  return { past: [...past, present], present: after, future: rest, topic: undefined };
}
