import { expect, test } from 'vitest';
import {
  alertMetricNames,
  furtherOf,
  holds,
  valueOf,
  warningsOf,
  windowSeconds,
  type AlertCondition,
  type AlertMetricName,
  type AlertOperator,
} from './condition.ts';

const facts = {
  count: 10,
  errors: 2,
  sumUs: 4_000_000,
  seconds: 100,
  quantileUs: (q: number) => q * 1_000_000,
};

test.each(['', '5', 'm', '5 m', '-5m', '1.5m', '5M', '5min', '1e3s', '0x5m', '٥m', '5m\n'])(
  'the window %j is refused for its form',
  (text) => {
    expect(() => windowSeconds(text)).toThrow(
      /timeWindow must be a whole number with s, m, h or d/,
    );
  },
);

test.each(['0s', '1s', '29s', '0m', '0h', '86401s', '1441m', '25h', '2d', '999999h'])(
  'the window %s is refused for its length',
  (text) => {
    expect(() => windowSeconds(text)).toThrow(`must lie between 30s and 24h; ${text} does not`);
  },
);

test.each([
  ['30s', 30],
  ['60s', 60],
  ['61s', 61],
  ['90s', 90],
  ['5m', 300],
  ['1h', 3_600],
  ['24h', 86_400],
  ['1d', 86_400],
  ['86400s', 86_400],
])('the window %s lasts %i seconds', (text, seconds) => {
  expect(windowSeconds(text)).toBe(seconds);
});

test.each<[AlertMetricName, number]>([
  ['error_rate', 0.2],
  ['request_rate', 0.1],
  ['average_duration', 400],
  ['p50', 500],
  ['p95', 950],
  ['p99', 990],
  ['error_count', 2],
])('%s is told as %d', (metric, value) => {
  expect(valueOf(metric, facts)).toBeCloseTo(value, 9);
});

test('an empty window has no requests and no errors, and nothing else', () => {
  const empty = { ...facts, count: 0, errors: 0, sumUs: 0, quantileUs: () => Number.NaN };
  const values = alertMetricNames.map((metric) => [metric, valueOf(metric, empty)]);
  expect(Object.fromEntries(values)).toEqual({ request_rate: 0, error_count: 0 });
});

test.each<[AlertOperator, readonly [below: boolean, at: boolean, above: boolean]]>([
  ['greaterThan', [false, false, true]],
  ['lessThan', [true, false, false]],
  ['greaterThanOrEqual', [false, true, true]],
  ['lessThanOrEqual', [true, true, false]],
  ['equal', [false, true, false]],
])('%s compares with the threshold', (operator, expected) => {
  const condition = { operator, threshold: 5 };
  expect([4.999, 5, 5.001].map((value) => holds(condition, value))).toEqual(expected);
  expect(holds(condition, undefined)).toBe(false);
});

test('the peak is what lies furthest beyond the threshold', () => {
  expect(furtherOf('greaterThan', 3, 4)).toBe(4);
  expect(furtherOf('lessThanOrEqual', 3, 4)).toBe(3);
});

const condition = (over: Partial<AlertCondition>): AlertCondition => ({
  metric: 'error_rate',
  operator: 'greaterThan',
  threshold: 0.05,
  timeWindow: '5m',
  ...over,
});

test.each([
  [condition({ threshold: 5 }), 'error_rate is a fraction from 0 to 1; for 5 percent say 0.05'],
  [condition({ threshold: 500 }), 'error_rate is a fraction from 0 to 1'],
  [condition({ threshold: 1 }), 'error_rate is never greaterThan 1: the alert cannot fire'],
  [
    condition({ metric: 'p95', operator: 'lessThan', threshold: 0 }),
    'p95 is never lessThan 0: the alert cannot fire',
  ],
])('a condition that cannot be meant is warned of', (one, warning) => {
  expect(warningsOf(one)).toEqual([warning]);
});

test('a condition that may hold is not warned of', () => {
  expect(warningsOf(condition({}))).toEqual([]);
  expect(warningsOf(condition({ operator: 'equal', threshold: 1 }))).toEqual([]);
  expect(warningsOf(condition({ metric: 'p99', threshold: 60_000 }))).toEqual([]);
});
