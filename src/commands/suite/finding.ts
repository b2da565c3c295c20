/** What a check of the machine has found; `bad` is what must be changed. */
export interface Finding {
  readonly level: 'good' | 'warning' | 'bad';
  readonly text: string;
}

export function good(text: string): Finding {
  return { level: 'good', text };
}

export function warning(text: string): Finding {
  return { level: 'warning', text };
}

export function bad(text: string): Finding {
  return { level: 'bad', text };
}
