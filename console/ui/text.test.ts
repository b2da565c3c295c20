import { describe, expect, test } from 'vitest';
import { formatAge, formatDollars, formatDuration, formatSeconds, formatShare } from './text.ts';

describe('Texts for people', () => {
  test.each([
    [0.04, '0.0 ms'],
    [9.94, '9.9 ms'],
    [12.4, '12 ms'],
    [3_210, '3.2 s'],
    [240_000, '4 min'],
    [90_061_000, '1 d 1 h'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test.each([
    [0, '0 s'],
    [61, '1 min 1 s'],
    [3_600, '1 h'],
    [90_000, '1 d 1 h'],
  ])('%d s is %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });

  test.each([
    [0, '$0.00'],
    [1.239, '$1.24'],
    [0.003, '$0.003'],
    [0.0000123, '$0.000012'],
    [0.0000000123, '$0.000000012'],
    [-0.004, '$-0.004'],
  ])('%d dollars are %s', (dollars, text) => {
    expect(formatDollars(dollars)).toBe(text);
  });

  test('an age is told in its largest unit, and nothing is made of no time', () => {
    const now = Date.parse('2026-01-01T12:00:00Z');
    expect(formatAge('2026-01-01T11:59:58Z', now)).toBe('just now');
    expect(formatAge('2026-01-01T11:54:30Z', now)).toBe('5 min ago');
    expect(formatAge('yesterday', now)).toBe('');
  });

  test.each([
    [0, '0.0 %'],
    [0.001, '0.10 %'],
    [0.25, '25.0 %'],
  ])('a share of %d is %s, and a small one is not told as none', (share, text) => {
    expect(formatShare(share)).toBe(text);
  });
});
