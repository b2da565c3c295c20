import type { LlamaModel } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { countBeyond } from './token-count.ts';

/** Reads a letter as a token, and remembers how much it was given at once. */
function letterModel() {
  const lengths: number[] = [];
  const tokenize = (text: string) => {
    lengths.push(text.length);
    return Array.from(text, () => 1);
  };
  // A stand-in for the one function that is asked.
  return { lengths, tokenize: tokenize as unknown as LlamaModel['tokenize'] };
}

const { signal } = new AbortController();

test('a text that is far too long is read no further than it takes to know that', async () => {
  const model = letterModel();
  const texts = ['x'.repeat(1_000_000)];
  expect(await countBeyond(model, texts, { tokensMax: 10_000, signal })).toBeGreaterThan(10_000);
  expect(model.lengths).toEqual([8192, 8192]);
});

test('several texts count together, and short ones are left to their reader', async () => {
  const model = letterModel();
  const texts = ['x'.repeat(17_000), 'short', 'x'.repeat(17_000)];
  expect(await countBeyond(model, texts, { tokensMax: 30_000, signal })).toBeGreaterThan(30_000);
  expect(await countBeyond(model, texts, { tokensMax: 34_000, signal })).toBeUndefined();
  expect(await countBeyond(model, ['short'], { tokensMax: 1, signal })).toBeUndefined();
});

test('a reader that was given up stops at the next piece', async () => {
  const model = letterModel();
  const controller = new AbortController();
  const counting = countBeyond(model, ['x'.repeat(100_000)], {
    tokensMax: 1_000_000,
    signal: controller.signal,
  });
  controller.abort(new Error('gave up'));
  await expect(counting).rejects.toThrow('gave up');
  expect(model.lengths).toHaveLength(1);
});
