/**
 * The words of a text as the in-box embedder counts them: compatibility forms unified (NFKC), case
 * and Latin accents folded, `snake_case` taken apart, `n't` read as `not`, and scripts written
 * without spaces cut into single characters and pairs. `camelCase` and `word7` stay whole if
 * `isKnown` holds for the whole (`JavaScript`, `oauth2`) and are taken apart if not.
 * The training script reads its text through this function too, so that both always agree.
 */
export function wordsOf(text: string, isKnown: (word: string) => boolean): string[] {
  const words: string[] = [];
  for (const [run] of unified(text).matchAll(runs)) {
    if (unspaced.test(run)) addCharactersAndPairs(words, run);
    else addWord(words, run, isKnown);
  }
  return words;
}

/** Less inflected forms of an English word, the likeliest first; some of them are no words. */
export function stemsOf(word: string): string[] {
  for (const [ending, replacements] of endings) {
    if (!word.endsWith(ending) || word.length < ending.length + shortestStem) continue;
    const stem = word.slice(0, -ending.length);
    const stems = replacements.map((replacement) => stem + replacement);
    const last = stem.at(-1) ?? '';
    if (ending !== 's' && last === stem.at(-2)) stems.push(stem.slice(0, -1));
    return stems;
  }
  return [];
}

/**
 * The hashes that stand for a word no vocabulary holds: the whole word, then its runs of 3 and 4
 * characters with `<` and `>` at its ends. Words spelt alike share most of them.
 */
export function piecesOf(word: string): number[] {
  const marked = `<${word.slice(0, longestPieced)}>`;
  const pieces = [hashOf(word, 0, word.length)];
  for (let size = 3; size <= 4; size += 1) {
    for (let start = 0; start + size <= marked.length; start += 1) {
      pieces.push(hashOf(marked, start, start + size));
    }
  }
  return pieces;
}

const shortestStem = 3;
/** Beyond this many characters only the hash of the whole word tells words apart. */
const longestPieced = 32;

const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Thai}\\p{Script=Lao}' +
  '\\p{Script=Khmer}\\p{Script=Myanmar}';
const unspaced = new RegExp(`^[${unspacedScripts}]`, 'u');
const runs = new RegExp(
  `(?:[${unspacedScripts}]\\p{M}*)+|(?:(?![${unspacedScripts}])[\\p{L}\\p{N}]\\p{M}*)+|\\p{Extended_Pictographic}`,
  'gu',
);
const plain = /^[a-z]+$/u;
const ascii = /^[\x20-\x7e\s]*$/u;
const seams =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;

const endings: readonly (readonly [string, readonly string[]])[] = [
  ['ies', ['y', 'ie']],
  ['es', ['e', '']],
  ['s', ['']],
  ['ied', ['y']],
  ['ed', ['', 'e']],
  ['ing', ['', 'e']],
  ['isation', ['ization', 'ise', 'ize']],
  ['ise', ['ize']],
  ['our', ['or']],
  ['ly', ['']],
];

function unified(text: string): string {
  const folded = ascii.test(text) ? text : withoutAccents(text);
  if (!folded.includes("'") && !folded.includes('’')) return folded;
  return folded.replace(/n['’]t\b/gu, ' not').replace(/['’](?:s|ll|re|ve|d|m)\b/gu, '');
}

/** Only the accents that Latin, Greek and Cyrillic use: the vowel signs of other scripts stay. */
function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC');
}

function addWord(words: string[], run: string, isKnown: (word: string) => boolean): void {
  const word = run.toLowerCase();
  if (plain.test(run) || isKnown(word)) {
    words.push(word);
    return;
  }
  const parts = run.split(seams);
  if (parts.some((part) => part.length === 1 && !/\p{N}/u.test(part))) words.push(word);
  else words.push(...parts.map((part) => part.toLowerCase()));
}

function addCharactersAndPairs(words: string[], run: string): void {
  let previous = '';
  for (const character of run) {
    words.push(character);
    if (previous) words.push(previous + character);
    previous = character;
  }
}

/** FNV-1a over UTF-16 code units, with a last mixing because only the low bits are used. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
