import { expect, test } from 'vitest';
import { intervalsUntil, pointOf, quantileOf } from './series.ts';

test('intervals follow each other up to the end of this minute', () => {
  expect(intervalsUntil(250_000, 100_000, 3)).toEqual([
    { fromMs: 0, toMs: 100_000 },
    { fromMs: 100_000, toMs: 200_000 },
    { fromMs: 200_000, toMs: 300_000 },
  ]);
});

test('an interval without traces has a rate and nothing else', () => {
  expect(pointOf({ fromMs: 0, toMs: 1_000 }, { total: 0, traces: [] })).toEqual({
    timeMs: 0,
    count: 0,
    errorRate: undefined,
    p50: undefined,
    p95: undefined,
    p99: undefined,
    isSampled: false,
  });
});

test('timeouts are errors, and a part of the traces is told as one', () => {
  const traces = [
    { duration: 30, status: 'timeout' },
    { duration: 10, status: 'success' },
    { duration: 20, status: 'error' },
    { duration: 40, status: 'success' },
  ];
  expect(pointOf({ fromMs: 0, toMs: 2_000 }, { total: 8, traces })).toMatchObject({
    count: 8,
    errorRate: 0.5,
    p50: 20,
    p95: 40,
    isSampled: true,
  });
});

test('quantiles are values that were measured', () => {
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  expect([0.5, 0.95, 0.99].map((one) => quantileOf(values, one))).toEqual([50, 95, 99]);
  expect(quantileOf([], 0.5)).toBeUndefined();
});
