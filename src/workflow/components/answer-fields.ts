/** What another system answered, as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // Of any other kind nothing of it is there.
  return isObject ? (value as Record<string, unknown>) : {};
}

/** A text that is not empty; undefined for all else. */
export function wordsOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
