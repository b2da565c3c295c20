import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  startOf,
  type EngineGround,
} from '../testing.ts';

let ground: EngineGround;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

test.each([
  { leftMs: 0, isGone: 'a second', fromMs: 900, toMs: 2_900 },
  { leftMs: 60_000, isGone: 'three', fromMs: 2_900, toMs: 20_000 },
])(
  'a process that stops with $leftMs ms left gives back what still runs after $isGone',
  async ({ leftMs, fromMs, toMs }) => {
    let runCount = 0;
    const hang = makeComponent('Hang', {
      run: async () => {
        runCount += 1;
        if (runCount === 1) await new Promise(() => {});
        return { kind: 'done', output: 'there' };
      },
    });
    ground.plans.set('hang', makePlan({ nodes: { h: hang }, edges: [] }));
    const stopping = await openTestEngine(ground, { graceMs: () => leftMs });
    const { id } = await stopping.engine.start(startOf('hang'));
    await expect.poll(() => runCount).toBe(1);
    const { engine: other } = await openTestEngine(ground);

    const stoppedAt = performance.now();
    await stopping.engine[Symbol.asyncDispose]();
    const tookMs = performance.now() - stoppedAt;
    expect(tookMs).toBeGreaterThan(fromMs);
    expect(tookMs).toBeLessThan(toMs);
    expect(await other.wait(id, { timeoutMs: 15_000 })).toMatchObject({ result: { h: 'there' } });
    await other[Symbol.asyncDispose]();
  },
);
