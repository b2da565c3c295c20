import { expect, test } from 'vitest';
import { formatChange, formatMicros, formatRate, readDuration } from './durations.ts';

test('durations are read in the units that people write', () => {
  expect(
    ['250', '1.5s', ' 2 min ', '300us', '1h', 'soon', '', '-1', '1 week'].map(readDuration),
  ).toEqual([250, 1_500, 120_000, 0, 3_600_000, undefined, undefined, undefined, undefined]);
});

test('microseconds are told in the unit that reads best', () => {
  expect([0, 12, 1_234, 250_000, 3_210_000, 90_000_000].map(formatMicros)).toEqual([
    '0',
    '12 µs',
    '1.23 ms',
    '250 ms',
    '3.21 s',
    '1.5 min',
  ]);
});

test('changes have their sign', () => {
  expect([5, -1_500, 0].map(formatChange)).toEqual(['+5.0 ms', '−1.5 s', '0']);
});

test('rates are told in the unit in which they are no small fraction', () => {
  expect([0, 0.0005, 0.05, 2.5, 1_200].map(formatRate)).toEqual([
    '0',
    '1.8/h',
    '3.0/min',
    '2.5/s',
    '1,200/s',
  ]);
});
