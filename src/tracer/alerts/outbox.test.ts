import { expect, test } from 'vitest';
import { messageOf } from './message.ts';
import { outcomeOf } from './outbox.ts';

const failed = { state: 'failed', reason: 'it answered 500', isWorthRetrying: true } as const;
const nowMs = Date.UTC(2026, 10, 21);

test('a failure that cannot pass is the last', () => {
  const outcome = outcomeOf(
    { ...failed, isWorthRetrying: false },
    { attempts: 1, nowMs, firstMs: nowMs },
  );
  expect(outcome).toEqual({ status: 'failed', error: 'it answered 500' });
});

test('the delay doubles up to an hour, at most half of it by chance', () => {
  for (let attempts = 1; attempts < 12; attempts += 1) {
    const outcome = outcomeOf(failed, { attempts, nowMs, firstMs: nowMs });
    const delayMs = outcome.status === 'pending' ? outcome.dueAt.getTime() - nowMs : 0;
    const fullMs = Math.min(5_000 * 2 ** (attempts - 1), 3_600_000);
    expect(delayMs).toBeGreaterThanOrEqual(Math.floor(fullMs / 2));
    expect(delayMs).toBeLessThanOrEqual(fullMs);
  }
});

test('the twelfth attempt is the last', () => {
  const outcome = outcomeOf(failed, { attempts: 12, nowMs, firstMs: nowMs });
  const error = 'it answered 500; given up after 12 attempts';
  expect(outcome).toEqual({ status: 'failed', error });
});

test('a wait that the other side asks for is kept, an hour at most', () => {
  const delayOf = (retryAfterMs: number) => {
    const outcome = outcomeOf({ ...failed, retryAfterMs }, { attempts: 1, nowMs, firstMs: nowMs });
    return outcome.status === 'pending' ? outcome.dueAt.getTime() - nowMs : 0;
  };
  expect(delayOf(90_000)).toBe(90_000);
  expect(delayOf(999_999_000)).toBe(3_600_000);
});

test('a message names everything that one must know', () => {
  const facts = {
    name: 'checkout fails',
    severity: 'critical',
    condition: {
      metric: 'p95',
      operator: 'greaterThanOrEqual',
      threshold: 1_500,
      timeWindow: '5m',
      agentId: 'checkout',
    },
    value: 2_345.678,
    firedAt: '2026-11-21T12:00:00.000Z',
    traceIds: ['a1', 'b2'],
  } as const;
  const fired = messageOf('fired', facts, new Date(nowMs));
  expect(fired.headline).toBe(
    '[critical] checkout fails is firing: p95 is 2346 ms over 5m, greaterThanOrEqual 1500 ms',
  );
  expect(Object.fromEntries(fired.facts)).toMatchObject({
    Severity: 'critical',
    Metric: 'p95',
    Value: '2346 ms',
    Threshold: 'greaterThanOrEqual 1500 ms',
    Window: '5m',
    Agent: 'checkout',
    'Example traces': 'a1, b2',
  });
  const resolved = messageOf('resolved', { ...facts, value: null }, new Date(nowMs));
  expect(resolved.headline).toBe(
    '[critical] checkout fails is resolved: p95 is without traces over 5m, no longer greaterThanOrEqual 1500 ms',
  );
});
