import { randomUUID } from 'node:crypto';

/**
 * A number of a JSON text, as that text, where a double would be written otherwise: whole numbers
 * above 2^53, more digits than a double has, `1.0`. Among other values it stands for its double.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): number {
    return Number(this.text);
  }
}

/** Strings come first, so that what looks like a number within them is passed by. */
const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** No text from outside can know it. */
const mark = `${randomUUID()}:`;

/**
 * A JSON text as `JSON.parse` reads it, but with an `ExactNumber` for each number whose text
 * `JSON.stringify` would not give back. Throws SyntaxError where it is no JSON.
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let isExact = true;
  const marked = text.replaceAll(token, (found) => {
    if (found.startsWith('"') || String(Number(found)) === found) return found;
    isExact = false;
    return `"${mark}${found}"`;
  });
  if (isExact) return value;
  return JSON.parse(marked, (_name, inner: unknown) =>
    typeof inner === 'string' && inner.startsWith(mark)
      ? new ExactNumber(inner.slice(mark.length))
      : inner,
  );
}

const maybeTooBig = /\d{16}|\d[eE]/;

/** Whether doubles hold the numbers of a JSON text: no whole number above 2^53, nothing infinite. */
export function isHeldByDoubles(text: string): boolean {
  if (!maybeTooBig.test(text)) return true;
  return (text.match(token) ?? []).every((found) => found.startsWith('"') || isHeld(found));
}

function isHeld(text: string): boolean {
  const value = Number(text);
  return /[.eE]/.test(text) ? Number.isFinite(value) : Number.isSafeInteger(value);
}

/** A parsed value as JSON text, as `JSON.stringify` writes it, but with each number as it was read. */
export function writeExact(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [name, inner] of Object.entries(value))
    if (inner !== undefined) members.push(`${JSON.stringify(name)}:${writeExact(inner)}`);
  return `{${members.join(',')}}`;
}
