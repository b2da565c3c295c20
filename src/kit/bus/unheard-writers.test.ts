import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hasUnheardWriters, rereadMs, UnheardWritersWatch } from './unheard-writers.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('tables are looked at while nobody tells of them, and once more afterwards', () => {
  const look = vi.fn<() => void>();
  let areUnheard = false;
  const watch = new UnheardWritersWatch(() => areUnheard, look);
  const pass = () => {
    vi.advanceTimersByTime(rereadMs);
    return look.mock.calls.length;
  };
  expect(pass()).toBe(0);
  areUnheard = true;
  expect([pass(), pass()]).toEqual([1, 2]);
  areUnheard = false;
  expect([pass(), pass()]).toEqual([3, 3]);
  areUnheard = true;
  watch[Symbol.dispose]();
  expect(pass()).toBe(3);
});

test.each([
  ['local', true, 'pglite', false],
  ['local', true, 'postgres', true],
  ['nats', true, 'postgres', false],
  ['nats', false, 'postgres', true],
  ['nats', false, 'pglite', false],
] as const)(
  'a bus that is %s (connected: %s) on %s has unheard writers: %s',
  (kind, isConnected, dialect, are) => {
    expect(hasUnheardWriters({ kind, isConnected }, { dialect })).toBe(are);
  },
);
