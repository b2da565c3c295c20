import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import { systemClock } from '../clock.ts';
import { attemptsOf, delayBefore } from './node-runner.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from '../testing.ts';

const retry = { enabled: true, maxAttempts: 5, backoff: 'exponential', initialDelay: 100 } as const;

describe('the wait before another attempt', () => {
  it('never exceeds its limit, however many attempts there were', () => {
    expect(delayBefore({ ...retry, maxDelay: 300 }, { attempt: 40, random: 1 })).toBe(300);
    expect(delayBefore(retry, { attempt: 1_000, random: 1 })).toBe(3_600_000);
  });

  it('grows as its backoff says, never shorter, and by chance up to a quarter longer', () => {
    const waits = (backoff: 'exponential' | 'linear' | 'fixed', random: number) =>
      [1, 2, 3].map((attempt) => delayBefore({ ...retry, backoff }, { attempt, random }));
    expect(waits('exponential', 0)).toEqual([100, 200, 400]);
    expect(waits('exponential', 1)).toEqual([125, 250, 500]);
    expect(waits('linear', 0)).toEqual([100, 200, 300]);
    expect(waits('fixed', 0.4)).toEqual([110, 110, 110]);
  });

  it('is no shorter than the failure asks for, within its limit', () => {
    const wait = (askedMs: number, maxDelay = 60_000) =>
      delayBefore({ ...retry, maxDelay }, { attempt: 2, random: 1, askedMs });
    expect([wait(0), wait(100), wait(5_000), wait(5_000, 3_000)]).toEqual([250, 250, 5_050, 3_000]);
  });

  it('is asked for only where retrying is on, and there is always one attempt', () => {
    expect(attemptsOf(undefined)).toBe(1);
    expect(attemptsOf({ ...retry, enabled: false })).toBe(1);
    expect(attemptsOf({ ...retry, maxAttempts: 0 })).toBe(1);
    expect(attemptsOf(retry)).toBe(5);
  });
});

it('a node that is asked to be left alone for 7 s is tried again after them', async () => {
  await using ground = await openEngineGround();
  const busy = makeComponent('Busy', {
    run: (_data, { attempt }) => {
      if (attempt === 1) throw new Fault('exhausted', 'not so fast', { retryAfter: 7 });
      return { kind: 'done', output: attempt };
    },
  });
  ground.plans.set('busy', makePlan({ nodes: { b: { component: busy, retry } }, edges: [] }));
  const pauses: number[] = [];
  const after = (delayMs: number, ring: () => void) => {
    if (delayMs < 7_000 || delayMs > 7_100) return systemClock.after(delayMs, ring);
    pauses.push(delayMs);
    return systemClock.after(0, ring);
  };
  const { engine } = await openTestEngine(ground, { clock: { ...systemClock, after } });
  await using _ = engine;
  const { id } = await engine.start(startOf('busy'));
  expect(await engine.wait(id, { timeoutMs: 10_000 })).toMatchObject({ status: 'completed' });
  expect(pauses).toHaveLength(1);
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
