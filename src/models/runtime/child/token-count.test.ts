import { expect, test } from 'vitest';
import type { Vocabulary } from '../llama/vocabulary.ts';
import { countBeyond } from './token-count.ts';

/** Reads a letter as a token, and remembers how much it was given at once. */
function letterVocabulary() {
  const lengths: number[] = [];
  const tokenize = (text: string) => {
    lengths.push(text.length);
    return Array.from(text, () => 1);
  };
  // A stand-in for the one function that is asked.
  return { lengths, tokenize: tokenize as unknown as Vocabulary['tokenize'] };
}

const { signal } = new AbortController();

test('a text that is far too long is read no further than it takes to know that', async () => {
  const vocabulary = letterVocabulary();
  const texts = ['x'.repeat(1_000_000)];
  expect(await countBeyond(vocabulary, texts, { tokensMax: 10_000, signal })).toBeGreaterThan(
    10_000,
  );
  expect(vocabulary.lengths).toEqual([8192, 8192]);
});

test('several texts count together, and short ones are left to their reader', async () => {
  const vocabulary = letterVocabulary();
  const texts = ['x'.repeat(17_000), 'short', 'x'.repeat(17_000)];
  expect(await countBeyond(vocabulary, texts, { tokensMax: 30_000, signal })).toBeGreaterThan(
    30_000,
  );
  expect(await countBeyond(vocabulary, texts, { tokensMax: 34_000, signal })).toBeUndefined();
  expect(await countBeyond(vocabulary, ['short'], { tokensMax: 1, signal })).toBeUndefined();
});

test('a reader that was given up stops at the next piece', async () => {
  const vocabulary = letterVocabulary();
  const controller = new AbortController();
  const counting = countBeyond(vocabulary, ['x'.repeat(100_000)], {
    tokensMax: 1_000_000,
    signal: controller.signal,
  });
  controller.abort(new Error('gave up'));
  await expect(counting).rejects.toThrow('gave up');
  expect(vocabulary.lengths).toHaveLength(1);
});
