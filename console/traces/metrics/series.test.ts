import { expect, test } from 'vitest';
import { intervalsOf, pointOf, quantileOf } from './series.ts';

test('a range is cut into equal parts without gaps', () => {
  expect(intervalsOf({ fromMs: 0, toMs: 100 }, 3)).toEqual([
    { fromMs: 0, toMs: 33 },
    { fromMs: 33, toMs: 67 },
    { fromMs: 67, toMs: 100 },
  ]);
});

test('an interval without traces has a rate and nothing else', () => {
  expect(pointOf({ fromMs: 0, toMs: 1_000 }, { total: 0, traces: [] })).toEqual({
    timeMs: 500,
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
