import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Grace } from './grace.ts';

const lastEventAt = new Date('2026-01-31T10:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A rotation so many seconds before the last event, asked about an hour later. */
function rotation(beforeSeconds: number) {
  const token_issued_at = new Date(lastEventAt.getTime() - beforeSeconds * 1000);
  return { session: { token_issued_at }, tokenAgeMs: 3_600_000 };
}

test.each([
  [0, true],
  [10, true],
  [11, false],
  // Made since the start, by another replica.
  [-1, false],
])('a rotation %i s before the last event of the issuer before is covered: %s', (seconds, is) => {
  expect(new Grace(lastEventAt).covers(rotation(seconds))).toBe(is);
});

test('what was cut off is covered for a minute after the start', () => {
  const grace = new Grace(lastEventAt);
  vi.advanceTimersByTime(60_000);
  expect(grace.covers(rotation(0))).toBe(true);
  vi.advanceTimersByTime(1);
  expect(grace.covers(rotation(0))).toBe(false);
});

test('without an event before the start ten seconds are all there is', () => {
  const grace = new Grace(null);
  expect(grace.covers({ ...rotation(0), tokenAgeMs: 10_000 })).toBe(true);
  expect(grace.covers({ ...rotation(0), tokenAgeMs: 10_001 })).toBe(false);
});
