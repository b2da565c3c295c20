import { randomUUID } from 'node:crypto';

/**
 * A number of a JSON text, as that text, where a double would be written otherwise: whole numbers
 * above 2^53, more digits than a double has. Among other values it stands for its double.
 */
export class ExactNumber {
  // Not a member that whoever goes through an object's members would find.
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  toJSON(): number {
    return Number(this.#text);
  }
}

/** The double that a number of either kind stands for; any other value as it is. */
export function doubleOf(value: unknown): unknown {
  return value instanceof ExactNumber ? value.toJSON() : value;
}

/**
 * A JSON text as `JSON.parse` reads it, but with an `ExactNumber` for each number whose text
 * `JSON.stringify` would not give back, `1.0` among them. Throws SyntaxError where it is no JSON.
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const marked = markNumbers(text, isSameText);
  return marked === undefined ? value : unmark(marked);
}

/**
 * What was parsed of a JSON text, with an `ExactNumber` for each number that no double is: the same
 * value where there is none. What stands in strings is passed by, so that the look at a text costs a
 * fraction of what it took to parse it.
 */
export function withExactNumbers<T>(parsed: T, text: string): T {
  const marked = markNumbers(text, isSameNumber);
  // The same value, but for its numbers.
  return marked === undefined ? parsed : (unmark(marked) as T);
}

/** A parsed value as JSON text, as `JSON.stringify` writes it, but with each number as it was read. */
export function writeExact(value: unknown): string {
  return holdsExact(value) ? write(value) : (JSON.stringify(value) ?? 'null');
}

function holdsExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return (value as unknown[]).some(holdsExact);
  if (value instanceof ExactNumber) return true;
  for (const name in value)
    if (holdsExact((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

function write(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [name, inner] of Object.entries(value))
    if (inner !== undefined) members.push(`${JSON.stringify(name)}:${write(inner)}`);
  return `{${members.join(',')}}`;
}

/** No text from outside can know it. */
const mark = `${randomUUID()}:`;

const quote = 0x22;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const dot = 0x2e;
const plus = 0x2b;
const smallE = 0x65;
/** Set in small letters, not in capitals. */
const caseBit = 0x20;

/** Valid JSON with a marked text for each number that is not kept; undefined where all are. */
function markNumbers(text: string, isKept: (number: string) => boolean): string | undefined {
  const pieces: string[] = [];
  let done = 0;
  let at = 0;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    // What looks like a number within a string is passed by.
    if (char === quote) at = endOfString(text, at);
    else if (char !== minus && (char < zero || char > nine)) at += 1;
    else {
      const found = numberAt(text, at);
      if (!isKept(found)) {
        pieces.push(text.slice(done, at), `"${mark}${found}"`);
        done = at + found.length;
      }
      at += found.length;
    }
  }
  return pieces.length === 0 ? undefined : pieces.join('') + text.slice(done);
}

function numberAt(text: string, at: number): string {
  let end = at + 1;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  return text.slice(at, end);
}

/** Digits, the dot, signs and the letter of an exponent. */
function isOfNumber(char: number): boolean {
  if (char >= zero && char <= nine) return true;
  return char === dot || char === minus || char === plus || (char | caseBit) === smallE;
}

function unmark(marked: string): unknown {
  return JSON.parse(marked, (_name, inner: unknown) =>
    typeof inner === 'string' && inner.startsWith(mark)
      ? new ExactNumber(inner.slice(mark.length))
      : inner,
  );
}

/** Behind the quote that closes the string which opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function isSameText(number: string): boolean {
  return String(Number(number)) === number;
}

/** Every number of so few characters without an exponent is a double's own. */
const shortLength = 15;
/** Longer ones are kept as they are, whatever they amount to. */
const longLength = 64;

/** Whether a double has just this value, however it is written. */
function isSameNumber(number: string): boolean {
  if (number.length <= shortLength && !/e/i.test(number)) return true;
  if (number.length > longLength) return false;
  return valueOf(number) === valueOf(String(Number(number)));
}

/** A number's digits and power of ten, without zeros at either end. */
function valueOf(number: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number);
  if (!found) return number;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return `${sign}${kept}e${power}`;
}
