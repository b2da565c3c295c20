import { NormalText } from './normal-form.ts';
import { allPassages, cutIntoPassages, type Passage } from './passages.ts';
import type { Term } from './query.ts';
import { isUnspaced, stemOf, wordsOf } from './words.ts';

/** A text at most this long is answered whole. */
const contentMax = 2_000;
const snippetMax = 240;
/** Characters of a text that are looked at. */
const readMax = 50_000;
/** Places of a stem that are tried for one where its word begins. */
const triesMax = 1_000;
/** Characters by which a word may be longer than its stem. */
const inflectionMax = 10;

interface Shown {
  readonly content: string;
  readonly snippet: string;
}

/** What of a message is shown: its text, or the part around what matched, and the place marked in it. */
export function show(whole: string, terms: readonly Term[], passage: number | undefined): Shown {
  const text = partAround(whole, terms);
  const matches = findInBothForms(text, terms);
  const part = text.length <= contentMax ? all(text) : choosePart(text, matches, passage);
  const window = chooseWindow(text, part, matches);
  return { content: text.slice(part.start, part.end).trim(), snippet: mark(text, window, matches) };
}

function all(text: string): Passage {
  return { start: 0, end: text.length };
}

/** Of a very long text the part around the first of some terms that it has; else its beginning. */
function partAround(text: string, terms: readonly Term[]): string {
  if (text.length <= readMax) return text;
  const normal = new NormalText(text);
  const lower = normal.text.toLowerCase();
  let place = -1;
  for (const term of terms) {
    place = placeOf(lower, term.text);
    if (place >= 0) break;
  }
  const { start: first } = normal.rawOf({ start: place, end: place });
  const start = wholeCharacter(text, Math.max(0, first - readMax / 2));
  return text.slice(start, wholeCharacter(text, start + readMax));
}

/** Where a word with a term's stem begins in a normal text in lower case, else where the stem stands; else -1. */
function placeOf(lower: string, term: string): number {
  const stem = stemOf(term);
  const first = lower.indexOf(stem);
  if (isUnspaced(stem)) return first;
  let at = first;
  for (let tries = 0; at >= 0 && tries < triesMax; tries += 1) {
    const before = lower.charAt(at - 1);
    const [word] = wordsOf(lower.slice(at, at + stem.length + inflectionMax));
    const isStart = wordsOf(before).length === 0 || isUnspaced(before);
    if (isStart && word && stemOf(word.text) === stem) return at;
    at = lower.indexOf(stem, at + stem.length);
  }
  return first;
}

/**
 * Where the terms stand in a text, in order: as words of its normal form, in which a sign may have become a part of
 * one, and as those that its signs part.
 */
function findInBothForms(text: string, terms: readonly Term[]): Passage[] {
  const normal = new NormalText(text);
  const matches = findMatches(normal.text, terms);
  if (normal.text === text) return matches;
  const found = [...matches.map((match) => normal.rawOf(match)), ...findMatches(text, terms)];
  const once = new Map(found.map((match) => [`${match.start} ${match.end}`, match]));
  return [...once.values()].toSorted(
    (one, other) => one.start - other.start || other.end - one.end,
  );
}

/** Where the terms stand in a text, in order. */
function findMatches(text: string, terms: readonly Term[]): Passage[] {
  const stems = new Set(terms.map((term) => stemOf(term.text)));
  const initials = new Set(Array.from(stems, initialOf));
  const matches: Passage[] = [];
  for (const { text: word, at } of wordsOf(text)) {
    if (isUnspaced(word)) matches.push(...findWithin(word, at, terms));
    // Most words are told apart by their first letter, which takes a tenth of the time.
    else if (initials.has(initialOf(word)) && stems.has(stemOf(word))) {
      matches.push({ start: at, end: at + word.length });
    }
  }
  return matches;
}

function initialOf(word: string): string {
  return word.charAt(0).toLowerCase().charAt(0);
}

/** The terms within a run of a script without spaces; those that overlap are one. */
function findWithin(run: string, at: number, terms: readonly Term[]): Passage[] {
  const found: Passage[] = [];
  const places = terms
    .flatMap(({ text }) => {
      const place = isUnspaced(text) ? run.indexOf(text) : -1;
      return place < 0 ? [] : [{ start: at + place, end: at + place + text.length }];
    })
    .toSorted((one, other) => one.start - other.start);
  for (const place of places) {
    const last = found.at(-1);
    if (last && place.start <= last.end) {
      found[found.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
    } else found.push(place);
  }
  return found;
}

/** The passage with most matches, else the one whose meaning was closest. */
function choosePart(
  text: string,
  matches: readonly Passage[],
  closest: number | undefined,
): Passage {
  const passages = matches.length > 0 ? allPassages(text) : cutIntoPassages(text);
  const counts = passages.map(
    ({ start, end }) => matches.filter((match) => match.start >= start && match.end <= end).length,
  );
  const most = Math.max(...counts);
  const chosen = most > 0 ? counts.indexOf(most) : (closest ?? 0);
  return passages[chosen] ?? all(text.slice(0, contentMax));
}

/** A stretch of a part that begins a little before where most matches stand close together. */
function chooseWindow(text: string, part: Passage, matches: readonly Passage[]): Passage {
  const within = matches.filter(({ start, end }) => start >= part.start && end <= part.end);
  const counted = within.map((match) => ({
    start: match.start,
    count: within.filter(({ start }) => start >= match.start && start < match.start + snippetMax)
      .length,
  }));
  const best = counted.toSorted((one, other) => other.count - one.count)[0];
  const wanted = best ? Math.max(part.start, best.start - snippetMax / 4) : part.start;
  const start = wanted === part.start ? wanted : afterSpace(text, wanted);
  return { start, end: beforeSpace(text, Math.min(part.end, start + snippetMax)) };
}

function afterSpace(text: string, from: number): number {
  const space = text.slice(from, from + 40).search(/\s/);
  return space < 0 ? wholeCharacter(text, from) : from + space + 1;
}

function beforeSpace(text: string, end: number): number {
  if (end >= text.length) return end;
  const space = text.slice(end - 40, end).search(/\s\S*$/);
  return space < 0 ? wholeCharacter(text, end) : end - 40 + space;
}

function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

function mark(text: string, { start, end }: Passage, matches: readonly Passage[]): string {
  let marked = start > 0 ? '… ' : '';
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue;
    marked += escape(text.slice(at, match.start));
    marked += `<mark>${escape(text.slice(match.start, match.end))}</mark>`;
    at = match.end;
  }
  return `${marked}${escape(text.slice(at, end))}${end < text.length ? ' …' : ''}`.trim();
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
