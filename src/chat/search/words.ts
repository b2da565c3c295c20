/** Scripts that part their words by nothing; chat.all_words_of knows the same ones. */
const unspaced = '\\u0e00-\\u0e7f\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff';
const wordPattern = new RegExp(`[${unspaced}]+|[[\\p{L}\\p{M}\\p{N}]--[${unspaced}]]+`, 'gv');
const unspacedPattern = new RegExp(`^[${unspaced}]`, 'u');

/** A word and where it stands in its text. */
export interface Word {
  readonly text: string;
  readonly at: number;
}

/** The words of a text; of scripts without spaces each run of characters is one. */
export function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => ({
    text: word,
    at: index,
  }));
}

/** Whether a word is of a script that parts its words by nothing. */
export function isUnspaced(word: string): boolean {
  return unspacedPattern.test(word);
}

/**
 * A word without the ends of English inflections, roughly as the database has it: enough to mark
 * what matched.
 */
export function stemOf(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length < 4 || !/^[a-z]+$/.test(lower)) return lower;
  const bare = lower
    .replace(/(?<=[a-z]{2}ss)es$|(?<=[a-z]{2}(?:x|ch|sh))es$/, '')
    .replace(/ies$|ied$/, 'y')
    .replace(/(?<=[a-z]{3})(?:ingly|edly|ing|ed|ly)$/, '')
    .replace(/(?<=[^s])s$/, '');
  const single = /([bdfgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare;
  return single.replace(/(?<=[a-z]{2})[ey]$/, '');
}
