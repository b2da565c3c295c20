import { isFields } from '../fields.ts';
import { literalText } from '../paths.ts';

/** A fixed text of JSON as a value whose texts stay as they are; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return withLiteralTexts(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function withLiteralTexts(value: unknown): unknown {
  if (typeof value === 'string') return literalText(value);
  if (Array.isArray(value)) return value.map(withLiteralTexts);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withLiteralTexts(v)]));
}
