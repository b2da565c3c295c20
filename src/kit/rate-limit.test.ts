import { expect, test } from 'vitest';
import { RateLimiter } from './rate-limit.ts';

const start = 1_700_000_000_000;

test('a bucket gives its burst at once, then refuses and says when to come back', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 3 });
  const taken = [1, 2, 3, 4].map(() => limiter.take('a', start));
  expect(taken.map((one) => one.isAllowed)).toEqual([true, true, true, false]);
  expect(taken.map((one) => one.remaining)).toEqual([2, 1, 0, 0]);
  expect(taken[3]).toMatchObject({ limit: 60, retryAfter: 1, resetAt: start / 1000 + 3 });
});

test('what is told to be left is never above the sustained figure and falls with each request', () => {
  const limiter = new RateLimiter({ perMinute: 2, burst: 4 });
  const taken = [1, 2, 3, 4, 5].map(() => limiter.take('a', start));
  expect(taken.map((one) => one.remaining)).toEqual([1, 0, 0, 0, 0]);
  expect(taken.map((one) => one.isAllowed)).toEqual([true, true, true, true, false]);
});

test('a bucket refills at the sustained rate and never beyond its burst', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 2 });
  limiter.take('a', start);
  limiter.take('a', start);
  expect(limiter.take('a', start + 999).isAllowed).toBe(false);
  expect(limiter.take('a', start + 1_000).isAllowed).toBe(true);
  expect(limiter.take('a', start + 3_600_000).remaining).toBe(1);
});

test('keys do not share a bucket', () => {
  const limiter = new RateLimiter({ perMinute: 1, burst: 1 });
  expect(limiter.take('a', start).isAllowed).toBe(true);
  expect(limiter.take('b', start).isAllowed).toBe(true);
  expect(limiter.take('a', start).isAllowed).toBe(false);
});

test('a clock that goes back takes nothing away', () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 2 });
  limiter.take('a', start);
  expect(limiter.take('a', start - 60_000).isAllowed).toBe(true);
});
