import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AuditEvent } from './audit-event.ts';
import { Tallies } from './tallies.ts';

const minuteMs = 60_000;

let told: [string, unknown][];
let tallies: Tallies;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  tallies = new Tallies(({ userId = '', facts }) => void told.push([userId, facts?.['count']]));
});

afterEach(() => {
  tallies[Symbol.dispose]();
  vi.useRealTimers();
});

function add(userId: string, cause: string, eventType: AuditEvent['eventType'] = 'token_refused') {
  tallies.add({ eventType, userId, origin: { ip: '', userAgent: '' }, provider: 'token' }, cause);
}

test('the first event of each kind and cause is told of at once', () => {
  add('a', 'here');
  add('b', 'there');
  add('c', 'here', 'refresh_refused');
  expect(told).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 1],
  ]);
});

test('those that follow are told of once a minute, as many as they were', () => {
  for (const name of ['a', 'b', 'c']) add(name, 'here');
  expect(told).toEqual([['a', 1]]);
  vi.advanceTimersByTime(minuteMs);
  expect(told.slice(1)).toEqual([['c', 2]]);
  add('d', 'here');
  vi.advanceTimersByTime(minuteMs);
  expect(told.slice(2)).toEqual([['d', 1]]);
});

test('after a quiet minute the next is told of at once', () => {
  add('a', 'here');
  vi.advanceTimersByTime(minuteMs);
  add('b', 'here');
  expect(told).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

test('the end tells of what is left', () => {
  for (const name of ['a', 'b']) add(name, 'here');
  tallies[Symbol.dispose]();
  expect(told.at(-1)).toEqual(['b', 1]);
});

test('more causes than can be kept have one in common', () => {
  for (let count = 0; count < 10_003; count += 1) add('a', String(count));
  expect(told).toHaveLength(10_001);
  vi.advanceTimersByTime(minuteMs);
  expect(told.slice(10_001)).toEqual([['a', 2]]);
});
