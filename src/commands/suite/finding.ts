/** What a check of the machine has found; `bad` is what must be changed. */
export interface Finding {
  readonly level: 'good' | 'warning' | 'bad';
  readonly text: string;
  /** What the text tells, for programs; their names stay. */
  readonly facts?: Facts;
}

type Facts = Readonly<Record<string, string | number | readonly string[]>>;

export function good(text: string, facts?: Facts): Finding {
  return finding('good', text, facts);
}

export function warning(text: string, facts?: Facts): Finding {
  return finding('warning', text, facts);
}

export function bad(text: string, facts?: Facts): Finding {
  return finding('bad', text, facts);
}

function finding(level: Finding['level'], text: string, facts: Facts | undefined): Finding {
  return { level, text, ...(facts && { facts }) };
}
