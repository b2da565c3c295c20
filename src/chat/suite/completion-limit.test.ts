import { expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { CompletionLimit, chatRate } from './completion-limit.ts';

function person(subject: string, more: Partial<Identity> = {}): Identity {
  return {
    subject,
    kind: 'user',
    roles: [],
    permissions: [],
    clientId: 'test',
    name: undefined,
    email: undefined,
    scope: '',
    tokenId: 'tok',
    sessionId: 'ses',
    tokenEpoch: 0,
    isNarrowed: false,
    expiresAt: 0,
    ...more,
  };
}

/** How many completions go through until one is refused, of so many at most. */
function countAllowed(limit: CompletionLimit, identity: Identity, most = 2_000): number {
  for (let count = 0; count < most; count += 1) {
    try {
      limit.take(identity);
    } catch {
      return count;
    }
  }
  return most;
}

test('the hundred and first completion of a minute is refused, whatever session it comes from', () => {
  const limit = new CompletionLimit(chatRate);
  for (let count = 0; count < 100; count += 1) {
    limit.take(person('usr_a', { sessionId: `ses_${count}`, tokenId: `tok_${count}` }));
  }
  const refused = () => limit.take(person('usr_a'));
  expect(refused).toThrow(Fault);
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'exhausted',
      reason: 'rate_limit_exceeded',
      detail: { limit: 100, window: '1m', retry_after: 1 },
    }),
  );
  limit.take(person('usr_b'));
});

test('a rate that the environment sets holds for completions too', () => {
  const raised = new CompletionLimit({ perMinute: 600, burst: 700 });
  expect(countAllowed(raised, person('usr_a'))).toBeGreaterThanOrEqual(700);
  const lowered = new CompletionLimit({ perMinute: 1, burst: 2 });
  expect(countAllowed(lowered, person('usr_a'))).toBe(2);
});

test('the services of the suite have no limit, and other services one for each key', () => {
  const limit = new CompletionLimit({ perMinute: 1, burst: 1 });
  expect(countAllowed(limit, person('svc', { permissions: ['suite:peer'] }))).toBe(2_000);
  expect(countAllowed(limit, person('svc', { permissions: ['*'] }))).toBe(1);
  const keyOf = (sessionId: string) => person('svc', { kind: 'service', sessionId });
  expect(countAllowed(limit, keyOf('key_1'))).toBe(1);
  expect(countAllowed(limit, keyOf('key_2'))).toBe(1);
});

test('REST answers carry what is left, refusals too', () => {
  const limit = new CompletionLimit({ perMinute: 2, burst: 2 });
  const left: (string | undefined)[] = [];
  const ask = () => {
    const headers = new Map<string, string>();
    try {
      limit.takeFor({
        identity: person('usr_a'),
        setHeader: (name, value) => void headers.set(name, value),
      });
    } finally {
      left.push(headers.get('x-ratelimit-remaining'));
    }
  };
  ask();
  ask();
  expect(ask).toThrow('rate limit exceeded');
  expect(left).toEqual(['1', '0', '0']);
});
