import { expect, test } from 'vitest';
import { evenly, roundUp, scaleOf } from './scatter.ts';

test('durations within a decade stand on a linear axis from 0', () => {
  const scale = scaleOf([
    { timeMs: 0, durationMs: 20 },
    { timeMs: 100, durationMs: 40 },
  ]);
  expect(scale.place(0, 20)).toEqual({ x: 0, y: 0.5 });
  expect(scale.place(100, 40)).toEqual({ x: 1, y: 1 });
  expect(scale.durationsMs).toEqual([0, 10, 20, 30, 40]);
});

test('durations over decades stand on a logarithmic axis', () => {
  const scale = scaleOf([
    { timeMs: 0, durationMs: 0 },
    { timeMs: 100, durationMs: 900 },
  ]);
  expect(scale.durationsMs).toEqual([1, 10, 100, 1_000]);
  expect(scale.place(0, 0).y).toBe(0);
  expect(scale.place(0, 1_000).y).toBe(1);
});

test('one point stands in the middle of its minute', () => {
  expect(scaleOf([{ timeMs: 5, durationMs: 3 }]).place(5, 3).x).toBe(0.5);
});

test('axes end at values that read well', () => {
  expect([0, 0.7, 7, 41, 900].map(roundUp)).toEqual([1, 0.8, 8, 50, 1_000]);
  expect(evenly(0, 1, 3)).toEqual([0, 0.5, 1]);
});
