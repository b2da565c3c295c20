import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loop } from '../components/logic/loop.ts';
import { parallel } from '../components/logic/parallel.ts';
import { createWait } from '../components/logic/wait.ts';
import { systemClock } from './clock.ts';
import type { WorkflowEngine } from './engine.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

const edges = ['l>p', 'p>n', 'n>l'];

/** The nodes of which a start was told, in order. */
async function startsOf(engine: WorkflowEngine, id: string) {
  const starts: string[] = [];
  for await (const { type, nodeId } of engine.follow(id, 0, new AbortController().signal)) {
    if (type === 'node-started' && nodeId) starts.push(nodeId);
  }
  return starts;
}

describe('a Loop and a Parallel begin once', () => {
  it('though the process died while they ran', async () => {
    let runs = 0;
    const hang = makeComponent('Hang', {
      run: () => {
        runs += 1;
        return runs > 1 ? { kind: 'done', output: null } : new Promise(() => {});
      },
    });
    const l = { component: loop, data: { items: [1] } };
    ground.plans.set('flow', makePlan({ nodes: { l, p: parallel, n: hang }, edges }));
    const one = await openTestEngine(ground, { isAlone: true });
    const { id } = await one.engine.start(startOf('flow'));
    await expect.poll(() => runs).toBe(1);
    // Nobody told the first one: what it writes from now on is not taken.
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 };
    const two = await openTestEngine(ground, { isAlone: true, clock });
    const { engine } = two;
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed' });
    expect(await startsOf(engine, id)).toEqual(['l', 'p', 'n', 'n']);
    const [outer, inner, node] = await engine.nodeRuns(id);
    expect([outer?.nodeId, inner?.nodeId, node?.nodeId]).toEqual(['l', 'p', 'n']);
    expect(outer?.duration).toBeGreaterThanOrEqual(60_000);
    expect(inner?.duration).toBeGreaterThanOrEqual(60_000);
    await engine[Symbol.asyncDispose]();
    await one.engine[Symbol.asyncDispose]();
  });

  it('though all that they run waits meanwhile', async () => {
    const { engine } = await openTestEngine(ground);
    const l = { component: loop, data: { items: [1, 2] } };
    const wait = { component: createWait(Date.now), data: { duration: 2_000 } };
    ground.plans.set('flow', makePlan({ nodes: { l, p: parallel, n: wait }, edges }));
    const { id } = await engine.start(startOf('flow'));
    await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
    expect(await engine.nodeRuns(id)).toMatchObject([
      { nodeId: 'l', status: 'running' },
      { nodeId: 'p', status: 'running' },
      { nodeId: 'n', status: 'waiting' },
    ]);
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed' });
    expect(await startsOf(engine, id)).toEqual(['l', 'p', 'n', 'p', 'n']);
    const [outer, inner] = await engine.nodeRuns(id);
    expect(outer?.duration).toBeGreaterThanOrEqual(3_990);
    expect(inner?.duration).toBeGreaterThanOrEqual(1_990);
    await engine[Symbol.asyncDispose]();
  });
});
