/**
 * CEL reserves the word `loop`, and its `matches` is one of JavaScript's regular expressions, which
 * can take for ever. So both are given other names of the same length, which keeps places right.
 */
export const loopAlias = 'lo0p';
export const matchesAlias = 'matche5';

const word = /[A-Za-z_][A-Za-z0-9_]*/y;

/** The text with our names in it, and with blanks for comments; texts in quotes stay. */
export function toOwnNames(text: string): string {
  let result = '';
  let place = 0;
  while (place < text.length) {
    const end = endOfPiece(text, place);
    result += renamePiece(text, place, end);
    place = end;
  }
  return result;
}

/** A message about such a text in the words of its author. */
export function toUserNames(message: string): string {
  return message.replaceAll(loopAlias, 'loop').replaceAll(matchesAlias, 'matches');
}

function endOfPiece(text: string, start: number): number {
  const first = text[start] ?? '';
  if (first === '"' || first === "'") return endOfQuoted(text, start, first);
  if (text.startsWith('//', start)) return endOfLine(text, start);
  word.lastIndex = start;
  const [found] = word.exec(text) ?? [];
  return start + (found?.length ?? 1);
}

function endOfQuoted(text: string, start: number, quote: string): number {
  const triple = quote.repeat(3);
  const closing = text.startsWith(triple, start) ? triple : quote;
  let place = start + closing.length;
  while (place < text.length && !text.startsWith(closing, place)) {
    place += text[place] === '\\' ? 2 : 1;
  }
  return Math.min(text.length, place + closing.length);
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

function renamePiece(text: string, start: number, end: number): string {
  const piece = text.slice(start, end);
  if (piece.startsWith('//')) return ' '.repeat(piece.length);
  const isField = text.slice(0, start).trimEnd().endsWith('.');
  if (piece === 'loop' && !isField) return loopAlias;
  const isCall = isField && text.slice(end).trimStart().startsWith('(');
  return piece === 'matches' && isCall ? matchesAlias : piece;
}

/** Where a text is to be put into another one. */
export interface Insertion {
  readonly place: number;
  readonly text: string;
}

/** The text with the insertions made; of those at one place the first comes first. */
export function insertAll(text: string, insertions: readonly Insertion[]): string {
  let result = '';
  let done = 0;
  for (const { place, text: piece } of insertions.toSorted((a, b) => a.place - b.place)) {
    result += text.slice(done, place) + piece;
    done = place;
  }
  return result + text.slice(done);
}
