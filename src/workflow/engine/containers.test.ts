import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { loop } from '../components/logic/loop.ts';
import { parallel } from '../components/logic/parallel.ts';
import { createSubWorkflow } from '../components/logic/sub-workflow.ts';
import { createWait } from '../components/logic/wait.ts';
import type { WorkflowEngine } from './engine.ts';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  type TestFlow,
} from './testing.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;
let engine: WorkflowEngine;
let run: Awaited<ReturnType<typeof openTestEngine>>['run'];
/** Nodes that ran, with their rounds, in order. */
let ran: string[] = [];
/** Nodes whose signal was aborted. */
let aborted: string[] = [];

const noop = makeComponent('NoOp', {
  run: (_data, { nodeId, iteration }) => {
    ran.push(`${nodeId}${iteration}`);
    return { kind: 'done', output: nodeId };
  },
});
const hang = makeComponent('Hang', {
  run: (_data, { nodeId, iteration, signal }) =>
    new Promise(() => {
      signal.addEventListener('abort', () => aborted.push(`${nodeId}${iteration}`));
    }),
});
const fails = makeComponent('Fails', {
  run: () => {
    throw new Fault('unavailable', 'not now', { reason: 'http_503' });
  },
});
const wait = createWait(Date.now);

beforeAll(async () => {
  ground = await openEngineGround();
  ({ engine, run } = await openTestEngine(ground));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function runFlow(flow: TestFlow) {
  ran = [];
  aborted = [];
  ground.plans.set('flow', makePlan(flow));
  const ended = await run('flow');
  const nodes = await engine.nodeRuns(ended.id);
  const stands = Object.fromEntries(
    nodes.map(({ nodeId, iteration, status }) => [`${nodeId}${iteration}`, status]),
  );
  return { ended, nodes, stands };
}

async function eventsOf({ id }: { readonly id: string }): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const event of engine.follow(id, 0, new AbortController().signal)) {
    types.push(event.nodeId === undefined ? event.type : `${event.type} ${event.nodeId}`);
  }
  return types;
}

const one = { limit: 1, offset: 0 };
const hour = { duration: 3_600_000 };

describe('a Loop', () => {
  it('fails when its time is over, with what it runs', async () => {
    const { ended, stands } = await runFlow({
      nodes: { l: { component: loop, data: { items: [1, 2] }, timeout: 50 }, h: hang, z: noop },
      edges: ['l>h', 'h>l', 'l:done>z'],
    });
    expect(ended).toMatchObject({
      status: 'failed',
      retryable: true,
      error: { nodeId: 'l', code: 'NODE_TIMEOUT' },
    });
    expect(aborted).toEqual(['h0']);
    expect(stands).toEqual({ l: 'failed', h0: 'cancelled' });
  });

  it('goes on along `error` when its time is over, and ends what it runs', async () => {
    const { ended, stands } = await runFlow({
      nodes: {
        l: {
          component: loop,
          data: { items: [1, 2, 3], concurrency: 2 },
          timeout: 100,
          onError: 'continue',
        },
        a: noop,
        h: hang,
        w: { component: wait, data: hour },
        z: noop,
        e: noop,
      },
      edges: ['l>a', 'a>h', 'a>w', 'h>l', 'w>l', 'l:done>z', 'l:error>e'],
    });
    expect(ended).toMatchObject({ status: 'completed', result: { e: 'e' } });
    expect(aborted).toEqual(['h0', 'h1']);
    expect(stands).toEqual({
      l: 'failed',
      a0: 'completed',
      a1: 'completed',
      h0: 'cancelled',
      h1: 'cancelled',
      w0: 'cancelled',
      w1: 'cancelled',
      z: 'skipped',
      e: 'completed',
    });
  });

  it('goes on with what failed in it as its output, where nothing leads on from `error`', async () => {
    const { ended, nodes } = await runFlow({
      nodes: {
        l: { component: loop, data: { items: [1] }, onError: 'continue' },
        f: fails,
        z: noop,
      },
      edges: ['l>f', 'f>l', 'l:done>z'],
    });
    expect(ended.status).toBe('completed');
    const [node] = nodes;
    expect(node).toMatchObject({
      nodeId: 'l',
      status: 'failed',
      output: { error: { message: 'not now', code: 'HTTP_503' } },
    });
    expect(ran).toEqual(['z']);
  });

  it.each([[{ items: 'no list' }], [{ items: Array.from({ length: 10_001 }, () => 1) }]])(
    'goes on from items that are none',
    async (data) => {
      const { ended } = await runFlow({
        nodes: { l: { component: loop, data, onError: 'continue' }, a: noop, e: noop },
        edges: ['l>a', 'a>l', 'l:error>e'],
      });
      expect(ended).toMatchObject({ status: 'completed', result: { e: 'e' } });
      expect(ran).toEqual(['e']);
    },
  );

  it('takes the failure of one within it that does not', async () => {
    const { ended, stands } = await runFlow({
      nodes: {
        o: { component: loop, data: { items: [1, 2] }, onError: 'continue' },
        i: { component: loop, data: { items: [1, 2] } },
        f: fails,
        e: noop,
      },
      edges: ['o>i', 'i>f', 'f>i', 'i:done>o', 'o:error>e'],
    });
    expect(ended).toMatchObject({ status: 'completed', result: { e: 'e' } });
    expect(stands).toEqual({ o: 'failed', i0: 'cancelled', 'f0.0': 'failed', e: 'completed' });
  });

  it('ends by itself within its time, and nothing comes of that later', async () => {
    const { ended } = await runFlow({
      nodes: {
        l: { component: loop, data: { items: [1] }, timeout: 300 },
        a: noop,
        w: { component: wait, data: { duration: 500 } },
      },
      edges: ['l>a', 'a>l', 'l:done>w'],
    });
    expect(ended.status).toBe('completed');
  });
});

describe('a Parallel', () => {
  it('goes on along `error` when its time is over, and ends what it runs', async () => {
    const { ended, stands } = await runFlow({
      nodes: {
        p: { component: parallel, timeout: 100, onError: 'continue' },
        a: noop,
        b: noop,
        h: hang,
        c: noop,
        e: noop,
      },
      edges: ['p>a', 'a>b', 'p>h', 'h>c', 'p:error>e'],
    });
    expect(ended).toMatchObject({ status: 'completed', result: { b: 'b', e: 'e' } });
    expect(aborted).toEqual(['h']);
    expect(stands).toEqual({
      p: 'failed',
      a: 'completed',
      b: 'completed',
      h: 'cancelled',
      c: 'skipped',
      e: 'completed',
    });
  });

  it('goes on with what failed in it as its output, for those who read it', async () => {
    const { ended, stands } = await runFlow({
      nodes: {
        p: { component: parallel, onError: 'continue' },
        f: fails,
        l: { component: loop, data: { items: [1] } },
        h: hang,
        s: noop,
        z: { component: noop, data: {} },
      },
      edges: ['p>f', 'p>l', 'l>h', 'h>l', 's>z'],
      references: { z: ['p'] },
    });
    expect(ended).toMatchObject({ status: 'completed', result: { z: 'z' } });
    expect(stands).toMatchObject({ p: 'failed', f: 'failed', l: 'cancelled', h0: 'cancelled' });
  });

  it('fails the execution where it does not go on, and where its tasks do it runs to its end', async () => {
    const flow = {
      nodes: { p: { component: parallel }, f: fails, a: noop },
      edges: ['p>f', 'p>a'],
    };
    expect((await runFlow(flow)).ended).toMatchObject({ error: { nodeId: 'f' } });
    const lenient = { ...flow.nodes, f: { component: fails, onError: 'continue' } as const };
    expect((await runFlow({ ...flow, nodes: lenient })).ended.status).toBe('completed');
  });
});

it('a workflow for which a node waited is cancelled when that is ended', async () => {
  ground.plans.set('child', makePlan({ nodes: { w: { component: wait, data: hour } }, edges: [] }));
  const sub = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
  const { ended } = await runFlow({
    nodes: {
      l: { component: loop, data: { items: [1] }, timeout: 500, onError: 'continue' },
      s: { component: sub, data: { workflowId: 'child' } },
      e: noop,
    },
    edges: ['l>s', 's>l', 'l:error>e'],
  });
  expect(ended).toMatchObject({ status: 'completed', result: { e: 'e' } });
  const parent = { executionId: ended.id, nodeId: 's', iteration: '0' };
  await expect
    .poll(async () => (await engine.list({ parent }, { limit: 1, offset: 0 })).executions)
    .toMatchObject([{ status: 'cancelled' }]);
});

describe('a workflow within', () => {
  const sub = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
  const s = { component: sub, data: { workflowId: 'child' } };

  async function childrenOf({ id }: { readonly id: string }) {
    const parent = { executionId: id, nodeId: 's', iteration: '' };
    return (await engine.list({ parent }, { limit: 10, offset: 0 })).executions;
  }

  it.each([
    { p: { component: parallel, timeout: 500 }, code: 'NODE_TIMEOUT' },
    { p: { component: parallel }, f: { component: wait, data: hour, timeout: 50 } },
  ])('is cancelled when the execution around it fails', async ({ p, f = noop, code }) => {
    ground.plans.set(
      'child',
      makePlan({ nodes: { w: { component: wait, data: hour } }, edges: [] }),
    );
    const { ended, stands } = await runFlow({ nodes: { p, s, f }, edges: ['p>s', 'p>f'] });
    expect(ended).toMatchObject({ status: 'failed', error: { code: code ?? 'NODE_TIMEOUT' } });
    expect(stands).toMatchObject({ s: 'cancelled' });
    await expect.poll(async () => childrenOf(ended)).toMatchObject([{ status: 'cancelled' }]);
    expect(await eventsOf(ended)).toContain('node-cancelled s');
  });

  it('goes on when the failed execution around it is resumed, though it was cancelled', async () => {
    let failures = 1;
    const shaky = makeComponent('Shaky', {
      run: async () => {
        // Not before the workflow beside it is waited for.
        await expect
          .poll(async () => engine.list({ workflowId: 'child' }, one))
          .toMatchObject({
            executions: [{ status: 'waiting' }],
          });
        failures -= 1;
        if (failures >= 0) throw new Fault('unavailable', 'not now');
        return { kind: 'done', output: 'at last' };
      },
    });
    ground.plans.set('around', makePlan({ nodes: { s, f: shaky }, edges: [] }));
    const failed = await run('around');
    expect(failed).toMatchObject({ status: 'failed', retryable: true });
    await engine.resume(failed.id);
    await expect.poll(async () => (await engine.find(failed.id))?.status).toBe('waiting');
    expect(await childrenOf(failed)).toMatchObject([{ status: 'waiting' }]);
    await engine.cancel(failed.id, 'usr_test');
    expect(await childrenOf(failed)).toMatchObject([{ status: 'cancelled' }]);
  });
});

it('tells of all that still ran when an execution fails', async () => {
  const { ended, stands } = await runFlow({
    nodes: { p: { component: parallel }, h: hang, f: fails },
    edges: ['p>h', 'p>f'],
  });
  expect(stands).toEqual({ p: 'cancelled', h: 'cancelled', f: 'failed' });
  const events = await eventsOf(ended);
  expect(events.slice(-4)).toEqual([
    'node-failed f',
    'node-cancelled p',
    'node-cancelled h',
    'workflow-failed',
  ]);
});

it('tells of a node that is ended with what ran it', async () => {
  const { ended } = await runFlow({
    nodes: {
      l: { component: loop, data: { items: [1] }, timeout: 50, onError: 'continue' },
      h: hang,
    },
    edges: ['l>h', 'h>l'],
  });
  expect(await eventsOf(ended)).toEqual([
    'node-started l',
    'node-started h',
    'node-failed l',
    'node-cancelled h',
    'workflow-completed',
  ]);
});
