import { stemsOf, wordsOf } from '../../src/models/embedding/words.ts';

/** Okapi BM25 (k1 1.2, b 0.75) over lightly stemmed words without stop words. */
export function bm25(queries: string[], documents: string[]): number[][] {
  const texts = documents.map(termsOf);
  const mean = texts.reduce((total, terms) => total + terms.length, 0) / texts.length;
  const holding = new Map<string, number>();
  for (const terms of texts) {
    for (const term of new Set(terms)) holding.set(term, (holding.get(term) ?? 0) + 1);
  }
  return queries.map((query) => {
    const asked = new Set(termsOf(query));
    return texts.map((terms) => {
      let score = 0;
      for (const term of asked) {
        const count = terms.filter((other) => other === term).length;
        const held = holding.get(term) ?? 0;
        const rarity = Math.log(1 + (texts.length - held + 0.5) / (held + 0.5));
        const damped = count + 1.2 * (0.25 + (0.75 * terms.length) / mean);
        score += (rarity * count * 2.2) / damped;
      }
      return score;
    });
  });
}

/** Words that say nothing about what a text is about. */
export const stopWords = new Set(
  (
    'a an and are as at be been before by can do does for from has have how i in into is it its me my not of ' +
    'on or our so someone than that the their them then there these they this to up was we what when ' +
    'where which while who will with you your'
  ).split(' '),
);

function termsOf(text: string): string[] {
  const words = wordsOf(text, () => true).filter((word) => !stopWords.has(word));
  return words.map((word) => stemsOf(word).at(-1) ?? word);
}
