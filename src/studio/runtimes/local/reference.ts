/** A process of this machine for good: numbers are given again, and mean nothing after a restart. */
export interface ProcessReference {
  readonly pid: number;
  readonly startedAt: string;
  /** Of the system's start; empty where it has no name. */
  readonly boot: string;
}

/** `pid:startTime:boot`. */
export function formatReference({ pid, startedAt, boot }: ProcessReference): string {
  return [pid, encodeURIComponent(startedAt), boot].join(':');
}

/** Undefined for a text of another form. */
export function parseReference(text: string): ProcessReference | undefined {
  const [, pid, startedAt, boot = ''] = /^(\d{1,10}):([^:]+):([\w-]*)$/.exec(text) ?? [];
  if (pid === undefined || startedAt === undefined) return undefined;
  return { pid: Number(pid), startedAt: decodeURIComponent(startedAt), boot };
}
