/** `${NAME}`, `${env:NAME}` of Cursor and VS Code, `${input:name}` of VS Code, `${NAME:-default}`. */
const placeholder = /\$\{(?:(?:env|input):)?([A-Za-z_][\w.-]*?)(?::-([^}]*))?\}/g;

export type Inputs = ReadonlyMap<string, string>;

export interface Filled {
  readonly text: string;
  /** Names that no value was given for. */
  readonly missing: readonly string[];
}

/**
 * Puts the given values, else the defaults, in place of the placeholders. The environment of this
 * process is never read: it would hand its secrets to whoever imports.
 */
export function fill(text: string, inputs: Inputs): Filled {
  const missing: string[] = [];
  const filled = text.replaceAll(placeholder, (whole: string, name: string, or?: string) => {
    const value = inputs.get(name) ?? or;
    if (value !== undefined) return value;
    missing.push(name);
    return whole;
  });
  return { text: filled, missing };
}

export interface FilledMembers {
  readonly members: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}

/** Fills headers or an environment; members that lack a value are left out. */
export function fillMembers(
  members: Readonly<Record<string, string>>,
  inputs: Inputs,
): FilledMembers {
  const missing: string[] = [];
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) {
    const one = fill(value, inputs);
    if (one.missing.length > 0) missing.push(...one.missing);
    else filled[name] = one.text;
  }
  return { members: filled, missing };
}
