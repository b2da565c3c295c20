import { Fault } from '../../kit/errors.ts';
import { isStorable } from '../../kit/storable-json.ts';

/**
 * The canonical text of a JSON value (RFC 8785): members sorted by UTF-16 units, numbers and texts as
 * ECMAScript writes them. Refuses texts that hold half a surrogate pair (section 3.2.2.2).
 */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (isStorable(text)) return text;
  throw new Fault('invalid', 'a text holds half a surrogate pair or U+0000');
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(',')}}`;
}
