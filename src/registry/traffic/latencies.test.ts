import { expect, test } from 'vitest';
import { bucketCount, bucketOf, quantileOf, RecentLatencies, trimmed } from './latencies.ts';
import { MinuteWindow } from './minute-window.ts';

test('without requests a quantile is 0', () => {
  expect(quantileOf([[], new Uint32Array(bucketCount)], 0.95)).toBe(0);
});

test('latencies below and beyond all buckets lie in the first and the last', () => {
  expect(bucketOf(0)).toBe(0);
  expect(bucketOf(0.1)).toBe(0);
  expect(bucketOf(10 ** 9)).toBe(bucketCount - 1);
});

test('p95 is within 4 % of the exact one, from a tenth of a millisecond to a minute', () => {
  for (const scale of [0.3, 5, 700, 60_000]) {
    const counts = new Uint32Array(bucketCount);
    const exact: number[] = [];
    for (let at = 1; at <= 1000; at += 1) {
      const latency = scale * (0.5 + (at * at) / 1_000_000);
      exact.push(latency);
      const bucket = bucketOf(latency);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    const p95 = exact[949]!;
    expect(Math.abs(quantileOf([counts], 0.95) / p95 - 1)).toBeLessThan(0.04);
  }
});

test('counts of several sources are one distribution', () => {
  const quick = new Uint32Array(bucketCount);
  quick[bucketOf(1)] = 90;
  const slow = new Uint32Array(bucketCount);
  slow[bucketOf(100)] = 10;
  expect(quantileOf([quick, trimmed(slow)], 0.5)).toBeCloseTo(1, 1);
  expect(quantileOf([quick, trimmed(slow)], 0.95)).toBeGreaterThan(90);
});

test('recent latencies are forgotten after two minutes', () => {
  const recent = new RecentLatencies();
  recent.add(bucketOf(50), 1, 60_000);
  expect(recent.quantile(0.95, 119_999)).toBeCloseTo(50, -1);
  expect(recent.quantile(0.95, 179_999)).toBeCloseTo(50, -1);
  expect(recent.quantile(0.95, 180_000)).toBe(0);
});

test('a minute forgets second by second', () => {
  const window = new MinuteWindow();
  window.add({ requests: 1, failures: 1, latencyMs: 5 }, 1_000_000);
  window.add({ requests: 2, failures: 0, latencyMs: 7 }, 1_030_000);
  expect(window.turn(1_059_999)).toMatchObject({ requests: 3, failures: 1, latencyMs: 12 });
  expect(window.turn(1_060_000)).toMatchObject({ requests: 2, failures: 0, latencyMs: 7 });
  expect(window.turn(9_000_000)).toMatchObject({ requests: 0, failures: 0, latencyMs: 0 });
});
