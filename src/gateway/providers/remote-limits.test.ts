import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeProvider } from '../routing/testing.ts';
import { RemoteLimits } from './remote-limits.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const openai = fakeProvider('hosted', []);
const anthropic = fakeProvider('claude', [], { dialect: 'anthropic' });

beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

test.each([
  ['nothing', {}],
  ['what is no number', { 'x-ratelimit-remaining-requests': 'many' }],
  ['less than nothing', { 'x-ratelimit-remaining': '-1' }],
  ['only tokens', { 'x-ratelimit-remaining-tokens': '7' }],
  [
    'what is over',
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2026-03-01T11:59:59.000Z' },
  ],
])('of %s no limit is known', (_what, headers) => {
  const limits = new RemoteLimits();
  limits.note(openai, headers);
  expect(limits.of(openai)).toBeUndefined();
});

test.each([
  ['6m0s', 360_000],
  ['120ms', 120],
  ['30', 30_000],
  [String(now / 1000 + 20), 20_000],
  [String(now + 20_000), 20_000],
  ['2026-03-01T12:00:10.000Z', 10_000],
  ['whenever', 60_000],
])('a reset of %s is %i ms away', (reset, ms) => {
  const limits = new RemoteLimits();
  limits.note(openai, {
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': reset,
  });
  expect(limits.of(openai)).toEqual({ remaining: 59, resetAt: new Date(now + ms) });
  limits.note(openai, {});
  expect(limits.of(openai)?.remaining).toBe(59);
  expect(limits.of(fakeProvider('hosted', []))).toBeUndefined();
});

test('one limit for all, and that of Anthropic, are known by their own headers', () => {
  const limits = new RemoteLimits();
  limits.note(openai, { 'x-ratelimit-remaining': ['9'], 'x-ratelimit-reset': '5' });
  expect(limits.of(openai)).toEqual({ remaining: 9, resetAt: new Date(now + 5_000) });
  limits.note(anthropic, {
    'anthropic-ratelimit-requests-remaining': '3',
    'anthropic-ratelimit-requests-reset': '2026-03-01T12:00:30Z',
  });
  expect(limits.of(anthropic)).toEqual({ remaining: 3, resetAt: new Date(now + 30_000) });
});
