import { expect, test } from 'vitest';
import { coveredBy, segmentsOf, spanOf } from './time-range.ts';

const day = 1_440;
// The third minute of the sixth hour of a day.
const now = 20_000 * day + 302;
const nowMs = now * 60_000;
const list = (from: number, to: number) =>
  segmentsOf({ from, to }, nowMs).map((one) => [one.level, one.from - now, one.to - now]);

test('a span of nothing reads nothing', () => {
  expect(list(now, now)).toEqual([]);
  expect(list(now, now - 10)).toEqual([]);
});

test('what is older than the cells are kept is never read', () => {
  expect(list(now - 200 * day, now - 100 * day)).toEqual([]);
  const [first] = segmentsOf({ from: now - 400 * day, to: now + 1 }, nowMs);
  expect(first!.from).toBeGreaterThanOrEqual(now - 90 * day);
});

test('a span within an hour that is over reads minutes only', () => {
  expect(list(now - 100, now - 70)).toEqual([['minute', -100, -70]]);
});

test('a span that ends now ends with the hour that is not over', () => {
  expect(list(now - 59, now + 1)).toEqual([
    ['minute', -59, -2],
    ['hour', -2, 58],
  ]);
});

test('a span of a day reads whole hours and minutes at its edges', () => {
  expect(list(now - 2 * day + 5, now - day + 7)).toEqual([
    ['minute', -2 * day + 5, -2 * day + 58],
    ['hour', -2 * day + 58, -day - 2],
    ['minute', -day - 2, -day + 7],
  ]);
});

test('a week reads whole days, and hours and minutes at its far edge', () => {
  const { from, to } = spanOf('7d', nowMs);
  expect(list(from, to)).toEqual([
    ['minute', -7 * day + 1, -7 * day + 58],
    ['hour', -7 * day + 58, -6 * day - 302],
    ['day', -6 * day - 302, day - 302],
  ]);
});

test('a month begins with the first hour of which everything is kept', () => {
  const { from, to } = spanOf('30d', nowMs);
  const segments = segmentsOf({ from, to }, nowMs);
  expect(coveredBy(segments, { from, to }).from).toBe(now - 30 * day + 58);
  expect(segments.map(({ level }) => level)).toEqual(['hour', 'day']);
});

test('hours stand in where minutes are not kept any more, days where hours are not', () => {
  expect(list(now - 10 * day + 5, now - 10 * day + 20)).toEqual([
    ['hour', -10 * day - 2, -10 * day + 58],
  ]);
  expect(list(now - 50 * day + 5, now - 50 * day + 20)).toEqual([
    ['day', -50 * day - 302, -49 * day - 302],
  ]);
});

test.each([1, 13, 60, 61, 300, day, 3 * day + 17, 9 * day, 29 * day])(
  'the segments of %d minutes follow one another without a gap',
  (length) => {
    const all = segmentsOf({ from: now - length, to: now + 1 }, nowMs);
    expect(all[0]!.from).toBeLessThanOrEqual(now - length);
    expect(all.at(-1)!.to).toBeGreaterThan(now);
    all.slice(1).forEach((one, at) => expect(one.from).toBe(all[at]!.to));
  },
);
