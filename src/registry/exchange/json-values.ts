export type Json = Readonly<Record<string, unknown>>;

/** An object of JSON, no array. */
export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is an object, else an empty one. */
export function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The value when it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value when it is a text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The members that are texts, numbers or booleans, as texts. */
export function textsOf(value: unknown): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, member] of Object.entries(recordOf(value))) {
    const isPlain = ['string', 'number', 'boolean'].includes(typeof member);
    if (isPlain) texts[name] = String(member);
  }
  return texts;
}
