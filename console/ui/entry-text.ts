/** Names between commas or on lines, each once. */
export function namesIn(text: string): string[] {
  const names = text.split(/[,\n]/).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Words between blanks or commas. */
export function wordsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** Lines without the blanks around them, but for empty ones. */
export function linesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Names and values on lines; throws a sentence for a line without the sign between them. */
export function pairsIn(text: string, sign: '=' | ':'): Record<string, string> {
  const pairs = linesIn(text).map((line): [string, string] => {
    const at = line.indexOf(sign);
    if (at < 1) throw new TypeError(`“${line}” has no “${sign}” behind a name`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(pairs);
}

/** Whether a text has all words of a query in it, whatever their case. */
export function hasWords(text: string, query: string): boolean {
  const lower = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** The object or list that a text is as JSON; any other text as it is, `12` too. */
export function readNested(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A JSON object from a text; throws a sentence that names `what` otherwise. */
export function readObject(text: string, what: string): Record<string, unknown> {
  return requireObject(readJson(text, what), what);
}

/** A value that is to be a JSON object; throws a sentence that names `what` otherwise. */
export function requireObject(value: unknown, what: string): Record<string, unknown> {
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
