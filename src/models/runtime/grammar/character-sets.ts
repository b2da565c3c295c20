/** Characters by their code points, from and to; in order, and none twice. */
export type CharacterSet = readonly (readonly [from: number, to: number])[];

const codePointMax = 0x10ffff;
const quote = 0x22;
const backslash = 0x5c;

/** What JSON writes by an escape alone, with the two that have a short one. */
const escaped: CharacterSet = [
  [0, 0x1f],
  [quote, quote],
  [backslash, backslash],
  [0x7f, 0x7f],
];

const digits: CharacterSet = [[0x30, 0x39]];
const words: CharacterSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** Of the spaces (ECMA-262, section 22.2.2.9) the one that models write. */
const spaces: CharacterSet = [[0x20, 0x20]];
const lineEnds: CharacterSet = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/**
 * The characters that one place of a regular expression stands for, as it is written: a set, an escape
 * or a character. Undefined for what has no words here, such as `\p{L}`.
 */
export function readCharacters(source: string): CharacterSet | undefined {
  if (source === '.') return complementOf(lineEnds);
  if (!source.startsWith('[')) return readItem(source);
  const isNegated = source.startsWith('[^');
  const found = readItems(source.slice(isNegated ? 2 : 1, -1));
  return found && isNegated ? complementOf(found) : found;
}

/** A GBNF expression of the set within a JSON text; undefined where nothing of it is written. */
export function writeCharacters(set: CharacterSet): string | undefined {
  const choices: string[] = [];
  const plain = complementOf(joined([...complementOf(set), ...escaped]));
  if (plain.length > 0) choices.push(`[${plain.map(writeRange).join('')}]`);
  if (has(set, quote)) choices.push(String.raw`"\\\""`);
  if (has(set, backslash)) choices.push(String.raw`"\\\\"`);
  if (choices.length === 0) return undefined;
  return choices.length === 1 ? choices[0] : `( ${choices.join(' | ')} )`;
}

function readItems(text: string): CharacterSet | undefined {
  const tokens = text.match(tokenPattern) ?? [];
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < tokens.length;) {
    const isRange = tokens[at + 1] === '-' && at + 2 < tokens.length;
    const found = isRange ? readRange(tokens[at], tokens[at + 2]) : readItem(tokens[at]);
    if (!found) return undefined;
    ranges.push(...found);
    at += isRange ? 3 : 1;
  }
  return joined(ranges);
}

/** Both are single characters, or the expression is none. */
function readRange(first?: string, last?: string): CharacterSet | undefined {
  const [[from] = []] = readItem(first) ?? [];
  const [[to] = []] = readItem(last) ?? [];
  return from === undefined || to === undefined ? undefined : [[from, to]];
}

const tokenPattern = /\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^]|[^]/gu;

function readItem(token = ''): CharacterSet | undefined {
  if (!token.startsWith('\\')) return single(token.codePointAt(0) ?? 0);
  const known = classes[token[1] ?? ''];
  if (known && token.length === 2) return known;
  const [, hex] = /^\\(?:x|u\{?)([0-9a-fA-F]+)\}?$/.exec(token) ?? [];
  if (hex !== undefined) return single(Number.parseInt(hex, 16));
  const [, itself] = /^\\([^\w])$/u.exec(token) ?? [];
  return itself === undefined ? undefined : single(itself.codePointAt(0) ?? 0);
}

const classes: Readonly<Record<string, CharacterSet>> = {
  d: digits,
  D: complementOf(digits),
  w: words,
  W: complementOf(words),
  s: spaces,
  // No less than JavaScript leaves out, lest something be written that the schema refuses.
  S: complementOf([
    [0, 0x20],
    [0x7f, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x206f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ]),
};

function single(codePoint: number): CharacterSet {
  return [[codePoint, codePoint]];
}

function has(set: CharacterSet, codePoint: number): boolean {
  return set.some(([from, to]) => from <= codePoint && codePoint <= to);
}

/** Ranges in order, those that touch as one. */
function joined(ranges: CharacterSet): CharacterSet {
  const found: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    const last = found.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

function complementOf(set: CharacterSet): CharacterSet {
  const found: [number, number][] = [];
  let next = 0;
  for (const [from, to] of joined(set)) {
    if (from > next) found.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= codePointMax) found.push([next, codePointMax]);
  return found;
}

function writeRange([from, to]: readonly [number, number]): string {
  return from === to ? writeCodePoint(from) : `${writeCodePoint(from)}-${writeCodePoint(to)}`;
}

/** As GBNF takes it within a set. */
function writeCodePoint(codePoint: number): string {
  const isPlain = /[A-Za-z0-9 _]/.test(String.fromCodePoint(codePoint));
  if (isPlain) return String.fromCodePoint(codePoint);
  return String.raw`\U${codePoint.toString(16).toUpperCase().padStart(8, '0')}`;
}
