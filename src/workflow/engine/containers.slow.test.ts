import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { loop } from '../components/logic/loop.ts';
import { parallel } from '../components/logic/parallel.ts';
import { createSubWorkflow } from '../components/logic/sub-workflow.ts';
import { createWait } from '../components/logic/wait.ts';
import { systemClock } from './clock.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';
import type { TestFlow } from './testing.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;
let lives = 0;
let ran: string[] = [];

const note = makeComponent('Note', {
  run: (_data, { nodeId, iteration }) => {
    ran.push(`${nodeId}${iteration}`);
    return { kind: 'done', output: nodeId };
  },
});
/** Runs on in the first life and ends in the second. */
const hang = makeComponent('Hang', {
  run: (_data, { nodeId, iteration }) => {
    ran.push(`${nodeId}${iteration}`);
    return lives > 1 ? { kind: 'done', output: nodeId } : new Promise(() => {});
  },
});
const fails = makeComponent('Fails', {
  run: (_data, { nodeId }) => {
    ran.push(nodeId);
    throw new Fault('unavailable', 'not now', { reason: 'http_503' });
  },
});

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

/** Has an engine run a flow as far as it comes, and takes it over as after a crash, so much later. */
async function runTwice(flow: TestFlow, { until, laterMs }: { until: string; laterMs: number }) {
  lives = 1;
  ran = [];
  ground.plans.set('flow', makePlan(flow));
  const one = await openTestEngine(ground, { isAlone: true });
  const { id } = await one.engine.start(startOf('flow'));
  await expect.poll(() => ran).toContain(until);
  const before = ran;
  lives = 2;
  ran = [];
  // Nobody told the first one: what it writes from now on is not taken.
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };
  const two = await openTestEngine(ground, { isAlone: true, clock });
  const ended = await two.engine.wait(id, { timeoutMs: 20_000 });
  const nodes = await two.engine.nodeRuns(id);
  const stands = Object.fromEntries(
    nodes.map(({ nodeId, iteration, status }) => [`${nodeId}${iteration}`, status]),
  );
  await two.engine[Symbol.asyncDispose]();
  await one.engine[Symbol.asyncDispose]();
  return { ended, stands, before, after: ran };
}

describe('after a crash', () => {
  it('a Loop keeps the time that it had, and runs nothing when that is over', async () => {
    const { ended, stands, before, after } = await runTwice(
      {
        nodes: {
          l: { component: loop, data: { items: [1, 2] }, timeout: 60_000, onError: 'continue' },
          a: note,
          h: hang,
          e: note,
        },
        edges: ['l>a', 'a>h', 'h>l', 'l:error>e'],
      },
      { until: 'h0', laterMs: 61_000 },
    );
    expect(ended).toMatchObject({ status: 'completed', result: { e: 'e' } });
    expect(before).toEqual(['a0', 'h0']);
    expect(after).toEqual(['e']);
    expect(stands).toEqual({ l: 'failed', a0: 'completed', h0: 'cancelled', e: 'completed' });
  });

  it('a Loop goes on within its time', async () => {
    const { ended, after } = await runTwice(
      {
        nodes: {
          l: { component: loop, data: { items: [1, 2] }, timeout: 60_000 },
          a: note,
          h: hang,
        },
        edges: ['l>a', 'a>h', 'h>l'],
      },
      { until: 'h0', laterMs: 1_000 },
    );
    expect(ended).toMatchObject({ status: 'completed', result: { l: { count: 2 } } });
    expect(after).toEqual(['h0', 'a1', 'h1']);
  });

  it('nothing is run again of a Loop and a Parallel from whose failure the flow went on', async () => {
    const { ended, stands, before, after } = await runTwice(
      {
        nodes: {
          p: { component: parallel, onError: 'continue' },
          a: note,
          b: note,
          x: note,
          f: { component: fails },
          l: { component: loop, data: { items: [1, 2] }, onError: 'continue' },
          g: fails,
          h: hang,
        },
        edges: ['p>a', 'a>b', 'x>f', 'p>f', 'p:error>l', 'l>g', 'g>l', 'l:error>h'],
      },
      { until: 'h', laterMs: 0 },
    );
    expect(ended).toMatchObject({ status: 'completed', result: { b: 'b', h: 'h' } });
    expect(before.toSorted()).toEqual(['a', 'b', 'f', 'g', 'h', 'x']);
    expect(after).toEqual(['h']);
    expect(stands).toEqual({
      p: 'failed',
      a: 'completed',
      b: 'completed',
      x: 'completed',
      f: 'failed',
      l: 'failed',
      g0: 'failed',
      h: 'completed',
    });
  });
});

it('of a Parallel whose time is over all that waits in it is cancelled, with workflows within', async () => {
  const wait = createWait(Date.now);
  const w = { component: wait, data: { duration: 3_600_000 } };
  const first = await openTestEngine(ground, { isAlone: true });
  let engine = first.engine;
  const component = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
  const s = { component, data: { workflowId: 'child' } };
  ground.plans.set('child', makePlan({ nodes: { w }, edges: [] }));
  const p = { component: parallel, timeout: 60_000, onError: 'continue' } as const;
  const edges = ['p>s', 'p>w', 'p:error>e'];
  ground.plans.set('flow', makePlan({ nodes: { p, s, w, e: note }, edges }));
  const failing = { ...p, onError: 'fail' } as const;
  ground.plans.set('fails', makePlan({ nodes: { p: failing, s, w }, edges: ['p>s', 'p>w'] }));
  const started = [await engine.start(startOf('flow')), await engine.start(startOf('fails'))];
  for (const { id } of started) {
    await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
  }
  await engine[Symbol.asyncDispose]();
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 61_000 };
  await ground.database
    .query(`update workflow.executions set wake_at = now() where status = 'waiting'
    and wake_at < now() + interval '30 minutes'`);
  ({ engine } = await openTestEngine(ground, { isAlone: true, clock }));
  for (const [at, { id }] of started.entries()) {
    const status = at === 0 ? 'completed' : 'failed';
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status });
    const parent = { executionId: id, nodeId: 's', iteration: '' };
    await expect
      .poll(async () => (await engine.list({ parent }, { limit: 9, offset: 0 })).executions)
      .toMatchObject([{ status: 'cancelled' }]);
    const nodes = await engine.nodeRuns(id);
    const cancelled = nodes.filter((node) => node.status === 'cancelled');
    expect(cancelled.map(({ nodeId }) => nodeId).toSorted()).toEqual(['s', 'w']);
    const told: (string | undefined)[] = [];
    for await (const { type, nodeId } of engine.follow(id, 0, AbortSignal.timeout(9_000))) {
      if (type === 'node-cancelled') told.push(nodeId);
    }
    expect(new Set(told)).toEqual(new Set(['s', 'w']));
  }
  await engine[Symbol.asyncDispose]();
});

it('a workflow within is cancelled though the process died before it came to that', async () => {
  const wait = createWait(Date.now);
  const w = { component: wait, data: { duration: 3_600_000 } };
  const first = await openTestEngine(ground, { isAlone: true });
  let engine = first.engine;
  const component = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
  const s = { component, data: { workflowId: 'child' } };
  ground.plans.set('child', makePlan({ nodes: { w }, edges: [] }));
  ground.plans.set('flow', makePlan({ nodes: { s }, edges: [] }));
  const { id } = await engine.start(startOf('flow'));
  await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
  await engine[Symbol.asyncDispose]();
  // As the last write of an execution that failed leaves it.
  await ground.database.query(
    `update workflow.executions set status = 'failed', completed_at = now(), outcome = '{}',
       tell_at = now() where id = $1`,
    [id],
  );
  ({ engine } = await openTestEngine(ground, { isAlone: true }));
  const parent = { executionId: id, nodeId: 's', iteration: '' };
  await expect
    .poll(async () => (await engine.list({ parent }, { limit: 9, offset: 0 })).executions)
    .toMatchObject([{ status: 'cancelled' }]);
  await engine[Symbol.asyncDispose]();
});

it('an execution in which everything waits is woken when the time of its Loop is over', async () => {
  const { engine } = await openTestEngine(ground);
  const wait = createWait(Date.now);
  const flow = {
    nodes: {
      l: { component: loop, data: { items: [1] }, timeout: 2_500, onError: 'continue' } as const,
      w: { component: wait, data: { duration: 3_600_000 } },
      e: note,
    },
    edges: ['l>w', 'w>l', 'l:error>e'],
  };
  ground.plans.set('flow', makePlan(flow));
  const { id } = await engine.start(startOf('flow'));
  await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
  expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({
    status: 'completed',
    result: { e: 'e' },
  });
  const { id: other } = await engine.start(startOf('flow'));
  await expect.poll(async () => (await engine.find(other))?.status).toBe('waiting');
  await engine.cancel(other, 'usr_test');
  expect(await engine.nodeRuns(other)).toMatchObject([
    { nodeId: 'l', status: 'cancelled' },
    { nodeId: 'w', status: 'cancelled' },
  ]);
  await engine.resume(other);
  expect(await engine.wait(other, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed' });
  await engine[Symbol.asyncDispose]();
});
