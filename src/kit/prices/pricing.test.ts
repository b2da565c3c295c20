import { expect, test } from 'vitest';
import { picodollarsOf, priceOf } from './pricing.ts';

test('sums of prices hold no dust of binary fractions', () => {
  const prices = { input: 0.1, output: 0.2, cachedInput: 0.003625 };
  expect(priceOf({ inputTokens: 1_000_000, outputTokens: 1_000_000 }, prices)).toBe(0.3);
  expect(priceOf({ inputTokens: 3, outputTokens: 0 }, prices)).toBe(0.000_000_3);
  const cached = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 1_000_000 };
  expect(priceOf(cached, prices)).toBe(0.003625);
  const one = picodollarsOf({ inputTokens: 1, outputTokens: 1 }, prices);
  expect((one * 1_000_000) / 1e12).toBe(0.3);
});

test('more that was cached than was sent never lowers the price below nothing', () => {
  const usage = { inputTokens: 10, outputTokens: 0, cachedInputTokens: 50 };
  expect(priceOf(usage, { input: 100, output: 1, cachedInput: 0 })).toBe(0);
});

test('a tier holds from its first token and for the whole request', () => {
  const prices = { input: 1, output: 2, tiers: [{ fromInputTokens: 1000, input: 3, output: 4 }] };
  expect(priceOf({ inputTokens: 999, outputTokens: 1 }, prices)).toBe(0.001_001);
  expect(priceOf({ inputTokens: 1000, outputTokens: 1 }, prices)).toBe(0.003_004);
});

test('more sound than there is of the prompt costs no more than a prompt of nothing else', () => {
  const usage = { inputTokens: 10, outputTokens: 0, audioInputTokens: 50 };
  expect(priceOf(usage, { input: 1, output: 1, audioInput: 100_000 })).toBe(1);
});

test('a picture costs its price where no tokens were counted, or tokens cost nothing', () => {
  const counted = { inputTokens: 10, outputTokens: 1_000, imageTokens: 1_000, images: 3 };
  const guessed = { ...counted, isEstimated: true };
  const both = { input: 5, output: 40, perImage: 0.04 };
  expect(priceOf(guessed, both)).toBe(0.12);
  expect(priceOf(counted, both)).toBe(0.040_05);
  expect(priceOf(counted, { input: 0, output: 0, perImage: 0.04 })).toBe(0.12);
  expect(priceOf(guessed, { input: 5, output: 40 })).toBe(0.040_05);
});
