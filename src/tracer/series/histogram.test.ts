import { expect, test } from 'vitest';
import { binOf, Histogram, valueOf } from './histogram.ts';

/** Repeatable numbers in 0..1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function values(seed: number, count: number): number[] {
  const next = random(seed);
  return Array.from({ length: count }, () => Math.round(Math.exp(4 + next() * 12 * next())));
}

function exact(sorted: readonly number[], q: number): number {
  return sorted[Math.ceil(q * sorted.length) - 1]!;
}

test('an empty histogram has no quantile', () => {
  expect(new Histogram().quantile(0.5)).toBeUndefined();
  const undone = new Histogram();
  undone.add(7, 1);
  undone.add(7, -1);
  expect(undone.quantile(0.5)).toBeUndefined();
  expect(undone.bins()).toEqual([]);
});

test.each([0, 1, 2, 3, 49, 50, 51, 1_000, 123_456_789, 2 ** 53])(
  'the bin of %d stands for a value within 1 %%',
  (value) => {
    expect(Math.abs(valueOf(binOf(value)) - value)).toBeLessThanOrEqual(value * 0.0100001);
  },
);

test('a bin fits the column that keeps it', () => {
  expect(binOf(2 ** 53)).toBeLessThan(2 ** 15);
  expect(binOf(-5)).toBe(0);
});

test.each([1, 2, 3, 4, 5])('merged in any order, quantiles are within 1 %% (seed %d)', (seed) => {
  const all = values(seed, 5_000);
  const parts = Array.from({ length: 20 }, () => new Histogram());
  all.forEach((value, at) => parts[at % parts.length]!.add(value, 1));
  const next = random(seed * 7);
  const forwards = new Histogram();
  for (const part of parts.toSorted(() => next() - 0.5)) forwards.merge(part);
  const nested = new Histogram();
  for (let at = 0; at < parts.length; at += 2) {
    const pair = new Histogram();
    pair.merge(parts[at + 1]!);
    pair.merge(parts[at]!);
    nested.merge(pair);
  }
  const sorted = all.toSorted((a, b) => a - b);
  for (const q of [0.5, 0.95, 0.99]) {
    const truth = exact(sorted, q);
    expect(Math.abs(forwards.quantile(q)! - truth) / truth).toBeLessThanOrEqual(0.0100001);
    expect(nested.quantile(q)).toBe(forwards.quantile(q));
  }
  expect(nested.bins()).toEqual(forwards.bins());
});

test('what is taken back before it was added leaves nothing behind', () => {
  const [one, other] = [new Histogram(), new Histogram()];
  one.add(500, -1);
  one.add(900, 1);
  other.add(500, 1);
  expect(one.quantile(0.5)).toBe(valueOf(binOf(900)));
  other.merge(one);
  expect(other.bins()).toEqual([[binOf(900), 1]]);
  expect(other.count).toBe(1);
});
