import { afterEach, expect, test, vi } from 'vitest';
import { Probe } from './probe.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('what was measured is measured again in time, though the clock was set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 8) });
  const probe = new Probe(() => Promise.reject(new Error('away')));
  await probe.measure();
  expect(probe.isFresh()).toBe(true);
  vi.setSystemTime(Date.UTC(2026, 10, 30));
  await vi.waitUntil(() => !probe.isFresh());
});
