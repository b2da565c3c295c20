import { Fault } from '../../kit/errors.ts';
import { toStorableText } from '../../kit/storable-json.ts';
import { toNormalForm } from './normal-form.ts';
import { isUnspaced, stemOf, wordsOf } from './words.ts';

/** What a message is looked up by. */
export interface Term {
  /** A word, or two characters of a script without spaces. */
  readonly text: string;
  /** Its characters have to stand side by side, which the index does not know. */
  readonly isAdjacent: boolean;
}

/** A query as the search understands it, in the normal form of texts. */
export interface Query {
  /** What it is about, for the embedder. */
  readonly meaning: string;
  readonly terms: readonly Term[];
  /** What stood between quotation marks: must be in the text as it is, upper or lower case. */
  readonly phrases: readonly string[];
  /** Words with a minus before them: must not be in the text. */
  readonly excluded: readonly string[];
  /** Phrases with a minus before them: must not be in the text as they are. */
  readonly excludedPhrases: readonly string[];
}

/** Each term is a look-up. */
const termsMax = 12;
/** Phrases and exclusions of a query, and the characters of them all. */
const conditionsMax = 32;
const conditionCharactersMax = 2_000;
/** Characters that the embedder reads. */
const meaningMax = 2_000;

/** A phrase, with a minus before it or without, or a word with one. */
const conditionPattern = /((?<=^|\s)-)?"([^"]*)"|(?<=^|\s)-([\p{L}\p{M}\p{N}]+)/gu;

const stopWords = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is ' +
    'it its me my of on or our should so some than that the their them then there these they this to ' +
    'was we were what when where which who why will with would you your'
  ).split(' '),
);

/**
 * Reads a query: words, "phrases", -exclusions of both; outside of phrases all other signs mean nothing. Phrases and
 * exclusions that are too many or too long are refused.
 */
export function parseQuery(text: string): Query {
  const phrases: string[] = [];
  const excluded: string[] = [];
  const excludedPhrases: string[] = [];
  const plain = toNormalForm(toStorableText(text)).replace(
    conditionPattern,
    (...[, minus, quoted, word = '']: readonly (string | undefined)[]) => {
      if (quoted === undefined) (isWhole(word) ? excluded : excludedPhrases).push(word);
      else if (quoted.trim() !== '') (minus ? excludedPhrases : phrases).push(quoted.trim());
      return quoted === undefined || minus ? ' ' : ` ${quoted} `;
    },
  );
  refuseTooMuch([...phrases, ...excluded, ...excludedPhrases]);
  const meaning = plain.trim().slice(0, meaningMax);
  return { meaning, terms: termsOf(plain), phrases, excluded, excludedPhrases };
}

/** Whether the index knows it as one word; of scripts without spaces it knows single characters. */
function isWhole(word: string): boolean {
  return !wordsOf(word).some(({ text }) => isUnspaced(text));
}

/** Each condition is looked for in all of up to 16 MiB of texts. */
function refuseTooMuch(conditions: readonly string[]): void {
  const characters = conditions.reduce((sum, { length }) => sum + length, 0);
  if (conditions.length <= conditionsMax && characters <= conditionCharactersMax) return;
  throw new Fault(
    'invalid',
    `a query may have ${conditionsMax} phrases and exclusions, of ${conditionCharactersMax} characters together`,
  );
}

/** Whether a message must have, or not have, more than its likeness says. */
export function hasConditions({ phrases, excluded, excludedPhrases }: Query): boolean {
  return phrases.length + excluded.length + excludedPhrases.length > 0;
}

/** The longest words are the rarest, most often. */
function termsOf(text: string): Term[] {
  const words = wordsOf(text);
  const telling = words.filter(({ text: word }) => !stopWords.has(word.toLowerCase()));
  const terms = new Map<string, Term>();
  for (const { text: word } of telling.length === 0 ? words : telling) {
    for (const term of isUnspaced(word) ? pairsOf(word) : [wordTerm(word)]) {
      terms.set(stemOf(term.text), term);
    }
  }
  const longest = [...terms.values()].toSorted((one, other) => other.text.length - one.text.length);
  return longest.slice(0, termsMax);
}

function wordTerm(word: string): Term {
  return { text: word.slice(0, 200), isAdjacent: false };
}

function pairsOf(run: string): Term[] {
  const characters = Array.from(run);
  if (characters.length === 1) return [{ text: run, isAdjacent: false }];
  return characters
    .slice(1)
    .map((character, at) => ({ text: `${characters[at] ?? ''}${character}`, isAdjacent: true }));
}
