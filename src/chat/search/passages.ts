import { isUnspaced, wordsOf } from './words.ts';

/** A part of a text: from one place in it up to before another. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

const wordsMax = 200;
const passagesMax = 8;
/** A run of a script without spaces counts as so many words as it has pairs of characters. */
const charactersAWord = 2;
const lengthMax = 2_000;

/**
 * The passages of a text that are embedded: of one that is longer than eight of them the first seven
 * and the last.
 */
export function cutIntoPassages(text: string): Passage[] {
  const whole = allPassages(text);
  if (whole.length <= passagesMax) return whole;
  return [...whole.slice(0, passagesMax - 1), ...whole.slice(-1)];
}

/** Cuts a text into passages of about 200 words, between words. */
export function allPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let start = 0;
  let weight = 0;
  for (const { text: word, at } of piecesOf(text)) {
    if (weight >= wordsMax || at + word.length - start > lengthMax) {
      passages.push({ start, end: at });
      start = at;
      weight = 0;
    }
    weight += isUnspaced(word) ? word.length / charactersAWord : 1;
  }
  passages.push({ start, end: text.length });
  return passages.filter(({ start: from, end }) => text.slice(from, end).trim() !== '');
}

/** Words, those that are very long in parts. */
function* piecesOf(text: string) {
  for (const { text: word, at } of wordsOf(text)) {
    for (let from = 0; from < word.length; from += lengthMax / 4) {
      yield { text: word.slice(from, from + lengthMax / 4), at: at + from };
    }
  }
}
