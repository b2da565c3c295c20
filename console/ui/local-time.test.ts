import { expect, test } from 'vitest';
import { fromLocalTime, toLocalTime } from './local-time.ts';

test('a time goes through a field of local time and back', () => {
  const time = '2026-01-31T14:25:01.000Z';
  expect(fromLocalTime(toLocalTime(time))).toBe(time);
  expect([toLocalTime(''), fromLocalTime('')]).toEqual(['', '']);
});
