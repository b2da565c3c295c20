import { expect, test } from 'vitest';
import { formatChange, formatMicros, formatShare, readDuration } from './durations.ts';

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
  expect([formatChange(5), formatChange(-5), formatChange(0)]).toEqual([
    '+5.00 ms',
    '-5.00 ms',
    '0',
  ]);
});

test('a small share is not told as none', () => {
  expect([formatShare(0), formatShare(0.001), formatShare(0.25)]).toEqual([
    '0.0 %',
    '0.10 %',
    '25.0 %',
  ]);
});
