/** Names between commas or on lines, each once. */
export function namesIn(text: string): string[] {
  const names = text.split(/[,\n]/).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** A JSON object from a text; throws a sentence that names `what` otherwise. */
export function readObject(text: string, what: string): Record<string, unknown> {
  const value = readJson(text, what);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${what} must be a JSON object, such as {"name": "value"}`);
  }
  return value as Record<string, unknown>;
}

/** A JSON value from a text; throws a sentence that names `what` otherwise. */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${what} is no JSON: ${reason}`, { cause: error });
  }
}
