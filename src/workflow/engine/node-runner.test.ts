import { describe, expect, it } from 'vitest';
import { systemClock } from './clock.ts';
import { attemptsOf, delayBefore } from './node-runner.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';

const retry = { enabled: true, maxAttempts: 5, backoff: 'exponential', initialDelay: 100 } as const;

describe('the wait before another attempt', () => {
  it('never exceeds its limit, however many attempts there were', () => {
    expect(delayBefore({ ...retry, maxDelay: 300 }, 40, 1)).toBe(300);
    expect(delayBefore(retry, 1_000, 1)).toBe(3_600_000);
  });

  it('grows as its backoff says, never shorter, and by chance up to a quarter longer', () => {
    const waits = (backoff: 'exponential' | 'linear' | 'fixed', random: number) =>
      [1, 2, 3].map((attempt) => delayBefore({ ...retry, backoff }, attempt, random));
    expect(waits('exponential', 0)).toEqual([100, 200, 400]);
    expect(waits('exponential', 1)).toEqual([125, 250, 500]);
    expect(waits('linear', 0)).toEqual([100, 200, 300]);
    expect(waits('fixed', 0.4)).toEqual([110, 110, 110]);
  });

  it('is asked for only where retrying is on, and there is always one attempt', () => {
    expect(attemptsOf(undefined)).toBe(1);
    expect(attemptsOf({ ...retry, enabled: false })).toBe(1);
    expect(attemptsOf({ ...retry, maxAttempts: 0 })).toBe(1);
    expect(attemptsOf(retry)).toBe(5);
  });
});

it.each(['logic', 'ai'] as const)(
  'a node of %s that runs when the time of its execution is over says so, and not that itself was late',
  async (group) => {
    await using ground = await openEngineGround();
    const hang = makeComponent('Hang', { group, run: () => new Promise(() => {}) });
    const settings = { timeout: 30_000 };
    ground.plans.set('hang', makePlan({ nodes: { h: hang }, edges: [], settings }));
    // The newest alarm is the node's; the execution's own, set before, never rings.
    const alarms: (() => void)[] = [];
    const after = (delayMs: number, ring: () => void) => {
      if (delayMs < 20_000) return systemClock.after(delayMs, ring);
      alarms.push(ring);
      return () => {};
    };
    const { engine } = await openTestEngine(ground, { clock: { ...systemClock, after } });
    await using _ = engine;
    const { id } = await engine.start(startOf('hang'));
    await expect.poll(() => alarms.length).toBe(2);
    alarms.at(-1)?.();
    expect(await engine.wait(id, { timeoutMs: 10_000 })).toMatchObject({
      status: 'failed',
      error: { nodeId: 'h', code: 'WORKFLOW_TIMEOUT' },
    });
  },
);
