import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { SpentFault } from '../components/spent-fault.ts';
import type { WorkflowEngine } from './engine.ts';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  startOf,
  type EngineGround,
} from './testing.ts';

let ground: EngineGround;
let engine: WorkflowEngine;
let run: Awaited<ReturnType<typeof openTestEngine>>['run'];

beforeAll(async () => {
  ground = await openEngineGround();
  ({ engine, run } = await openTestEngine(ground, { nodesMax: 4 }));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const noop = makeComponent('NoOp');
const loop = makeComponent('Loop', { control: 'loop', effect: 'none' });
const parallel = makeComponent('Parallel', { control: 'parallel', effect: 'none' });

async function eventsOf(id: string): Promise<string[]> {
  const types: string[] = [];
  for await (const event of engine.follow(id, 0, AbortSignal.timeout(10_000))) {
    types.push([event.type, event.nodeId, event.iteration].filter(Boolean).join(' '));
  }
  return types;
}

describe('an execution that goes wrong', () => {
  it('fails with the node, its attempt and a code, and starts nothing after it', async () => {
    const broken = makeComponent('Broken', {
      run: () => {
        throw new Fault('upstream', 'the other side said no', { reason: 'bad_day' });
      },
    });
    ground.plans.set(
      'broken',
      makePlan({ nodes: { a: noop, b: broken, c: noop }, edges: ['a>b', 'b>c'] }),
    );
    const ended = await run('broken');
    expect(ended).toMatchObject({
      status: 'failed',
      retryable: true,
      error: { nodeId: 'b', attempt: 1, message: 'the other side said no', code: 'BAD_DAY' },
    });
    const nodes = await engine.nodeRuns(ended.id);
    expect(nodes.map(({ nodeId, status }) => [nodeId, status])).toEqual([
      ['a', 'completed'],
      ['b', 'failed'],
    ]);
    expect(await eventsOf(ended.id)).toEqual([
      'node-started a',
      'node-completed a',
      'node-started b',
      'node-failed b',
      'workflow-failed',
    ]);
  });

  it('goes on behind a failed node that says so, along its error edge only', async () => {
    const broken = makeComponent('Broken', {
      run: () => {
        throw new Error('secret of ours');
      },
    });
    ground.plans.set(
      'continued',
      makePlan({
        nodes: { a: { component: broken, onError: 'continue' }, good: noop, bad: noop },
        edges: ['a>good', 'a:error>bad'],
      }),
    );
    const ended = await run('continued');
    expect(ended).toMatchObject({ status: 'completed', result: { bad: 'NoOp' } });
    expect(ended.result).not.toHaveProperty('good');
    const [node] = await engine.nodeRuns(ended.id);
    expect(node).toMatchObject({
      status: 'failed',
      error: { code: 'INTERNAL', message: 'internal error' },
    });
  });

  it('stops when its budget is used up, and keeps the node that used it', async () => {
    const usage = { model: 'm', promptTokens: 6, completionTokens: 6, cost: 0.5 };
    const model = makeComponent('Model', { run: () => ({ kind: 'done', output: 1, usage }) });
    ground.plans.set('spend', makePlan({ nodes: { a: model, b: model }, edges: ['a>b'] }));
    const ended = await run('spend', { maxTokens: 10 });
    expect(ended).toMatchObject({
      status: 'failed',
      retryable: false,
      tokensUsed: 12,
      cost: 0.5,
      error: { nodeId: 'a', code: 'BUDGET_EXCEEDED' },
    });
    const nodes = await engine.nodeRuns(ended.id);
    expect(nodes).toMatchObject([
      { nodeId: 'a', status: 'completed', modelUsed: 'm', tokensUsed: 12 },
    ]);
    const refusal = { code: 'conflict', reason: 'budget_exceeded' };
    await expect(engine.resume(ended.id)).rejects.toMatchObject(refusal);
    await engine.resume(ended.id, { maxTokens: 100 });
    const more = await engine.wait(ended.id, { timeoutMs: 5_000 });
    expect(more).toMatchObject({ status: 'completed', tokensUsed: 24 });
  });

  it('counts what attempts used that failed, and makes none that its budget does not allow', async () => {
    const usage = { model: 'm', promptTokens: 6, completionTokens: 6, cost: 0.5 };
    const model = makeComponent('Model', {
      run: (_data, { attempt }) => {
        if (attempt === 3) return { kind: 'done', output: attempt, usage };
        throw new SpentFault('upstream', 'no answer', { reason: 'no_answer', usage });
      },
    });
    const retry = { enabled: true, maxAttempts: 3, backoff: 'fixed', initialDelay: 1 } as const;
    ground.plans.set('paid', makePlan({ nodes: { a: { component: model, retry } }, edges: [] }));
    const ended = await run('paid');
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 36, cost: 1.5 });
    expect(await engine.nodeRuns(ended.id)).toMatchObject([{ tokensUsed: 36, attempt: 3 }]);
    const stopped = await run('paid', { maxTokens: 20 });
    const error = { nodeId: 'a', code: 'BUDGET_EXCEEDED' };
    expect(stopped).toMatchObject({ status: 'failed', tokensUsed: 24, cost: 1, error });
    expect(await engine.nodeRuns(stopped.id)).toMatchObject([
      { status: 'failed', tokensUsed: 24, attempt: 2, error: { code: 'NO_ANSWER' } },
    ]);
    ground.plans.set('paid-once', makePlan({ nodes: { a: model }, edges: [] }));
    expect(await run('paid-once')).toMatchObject({ tokensUsed: 12, error: { code: 'NO_ANSWER' } });
  });

  it('is run again from no node that it skipped or never reached', async () => {
    const broken = makeComponent('Broken', {
      run: () => {
        throw new Fault('invalid', 'no');
      },
    });
    ground.plans.set(
      'partly',
      makePlan({
        nodes: { a: noop, skipped: noop, b: broken, far: noop },
        edges: ['a:other>skipped', 'a>b', 'b>far'],
      }),
    );
    const { id } = await run('partly');
    const rerun = (fromNode: string) => engine.rerun(id, { fromNode, ownerId: 'usr_test' });
    const refusal = { code: 'conflict', reason: 'node_not_reached' };
    await expect(rerun('skipped')).rejects.toMatchObject(refusal);
    await expect(rerun('far')).rejects.toMatchObject(refusal);
    expect(await rerun('b')).toMatchObject({ workflowId: 'partly' });
  });

  it('is not started with numbers that nobody can hold', async () => {
    ground.plans.set('numbers', makePlan({ nodes: { a: noop }, edges: [] }));
    const inputs = { a: { deep: [JSON.parse('1e400')] } };
    await expect(run('numbers', { inputs })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('fails a node whose component does not listen to its deadline', async () => {
    const deaf = makeComponent('Deaf', { group: 'ai', run: () => new Promise(() => {}) });
    ground.plans.set(
      'late',
      makePlan({ nodes: { a: { component: deaf, timeout: 20 } }, edges: [] }),
    );
    expect(await run('late')).toMatchObject({ status: 'failed', error: { code: 'MODEL_TIMEOUT' } });
  });

  it('ends with its own timeout, whatever its nodes allow', async () => {
    const deaf = makeComponent('Deaf', { run: () => new Promise(() => {}) });
    ground.plans.set(
      'slow',
      makePlan({ nodes: { a: deaf }, edges: [], settings: { timeout: 30 } }),
    );
    expect(await run('slow')).toMatchObject({ status: 'failed', retryable: true });
  });

  it('refuses an output that is no JSON, or larger than 8 MiB', async () => {
    const large = makeComponent('Large', {
      run: () => ({ kind: 'done', output: 'x'.repeat(2 ** 23) }),
    });
    const odd = makeComponent('Odd', { run: () => ({ kind: 'done', output: 1n }) });
    ground.plans.set('large', makePlan({ nodes: { a: large }, edges: [] }));
    ground.plans.set('odd', makePlan({ nodes: { a: odd }, edges: [] }));
    expect(await run('large')).toMatchObject({ error: { code: 'OUTPUT_TOO_LARGE' } });
    expect(await run('odd')).toMatchObject({ error: { code: 'BAD_OUTPUT' } });
  });

  it('keeps texts that a database may refuse', async () => {
    const odd = makeComponent('Odd', {
      run: () => ({
        kind: 'done',
        output: { text: '\u0000\ud800', '\u0000': 1 },
        handle: '\u0000',
      }),
    });
    ground.plans.set('nul', makePlan({ nodes: { a: odd }, edges: [] }));
    const ended = await run('nul');
    expect(ended.status).toBe('completed');
    expect((await engine.find(ended.id))?.result).toEqual({
      a: { text: '\u0000\ud800', '\u0000': 1 },
    });
  });

  it('is retried as often as its node says, and not for what a repetition cannot mend', async () => {
    const attempts: string[] = [];
    const flaky = makeComponent('Flaky', {
      run: (_data, { attempt, nodeId, idempotencyKey }) => {
        attempts.push(`${nodeId} ${attempt} ${idempotencyKey.split(':').slice(1).join(':')}`);
        if (nodeId === 'b') throw new Fault('invalid', 'never');
        if (attempt < 3) throw new Fault('unavailable', 'not yet');
        return { kind: 'done', output: attempt };
      },
    });
    const retry = { enabled: true, maxAttempts: 3, backoff: 'fixed', initialDelay: 1 } as const;
    ground.plans.set(
      'flaky',
      makePlan({
        nodes: { a: { component: flaky, retry }, b: { component: flaky, retry } },
        edges: ['a>b'],
      }),
    );
    const ended = await run('flaky');
    expect(attempts).toEqual(['a 1 a:', 'a 2 a:', 'a 3 a:', 'b 1 b:']);
    expect(ended).toMatchObject({ status: 'failed', error: { nodeId: 'b', code: 'INVALID' } });
    const events = await eventsOf(ended.id);
    expect(events.filter((event) => event === 'node-retrying a')).toHaveLength(2);
  });

  it('is told of as a deadlock when its nodes wait for each other', async () => {
    ground.plans.set(
      'stuck',
      makePlan({
        nodes: { p: parallel, t1: noop, m: noop, t2: noop },
        edges: ['p>t1', 'p>t2', 't1>m', 'm>t2'],
        references: { m: ['p'] },
      }),
    );
    expect(await run('stuck')).toMatchObject({ status: 'failed', error: { code: 'DEADLOCK' } });
  });
});

describe('an execution', () => {
  it('runs a node once all edges are decided and one was taken, and skips what none leads to', async () => {
    const choice = makeComponent('Choice', {
      run: () => ({ kind: 'done', output: 1, handle: 'yes' }),
    });
    const join = makeComponent('Join', {
      run: (_data, { predecessors }) => ({ kind: 'done', output: predecessors }),
    });
    ground.plans.set(
      'choice',
      makePlan({
        nodes: { a: choice, b: noop, c: noop, d: noop, e: join },
        edges: ['a:yes>b', 'a:no>c', 'c>d', 'b>e', 'd>e'],
      }),
    );
    const ended = await run('choice');
    expect(ended.result).toEqual({ e: { b: 'NoOp' } });
    const nodes = await engine.nodeRuns(ended.id);
    expect(nodes.map(({ nodeId, status }) => `${nodeId} ${status}`).toSorted()).toEqual([
      'a completed',
      'b completed',
      'c skipped',
      'd skipped',
      'e completed',
    ]);
  });

  it('runs a thousand rounds of a loop in order, each with its item', async () => {
    const double = makeComponent('Double', {
      effect: 'none',
      run: ({ item }) => ({ kind: 'done', output: Number(item) * 2 }),
    });
    const items = Array.from({ length: 1_000 }, (_, index) => index);
    ground.plans.set(
      'rounds',
      makePlan({
        nodes: {
          l: { component: loop, data: { items } },
          d: {
            component: double,
            data: { item: (scope: { loop?: { item: unknown } }) => scope.loop?.item },
          },
          end: noop,
        },
        edges: ['l>d', 'd>l', 'l:done>end'],
      }),
    );
    const ended = await run('rounds');
    expect(ended.status).toBe('completed');
    const nodes = await engine.nodeRuns(ended.id);
    const outer = nodes.find(({ nodeId }) => nodeId === 'l');
    expect(outer?.output).toEqual({ results: items.map((item) => item * 2), count: 1_000 });
    expect(nodes.filter(({ nodeId }) => nodeId === 'd').map(({ iteration }) => iteration)).toEqual(
      items.map(String),
    );
  });

  it('runs loops within loops with as many rounds at once as they say', async () => {
    let running = 0;
    let most = 0;
    const work = makeComponent('Work', {
      run: async (_data, { iteration }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        return { kind: 'done', output: iteration };
      },
    });
    ground.plans.set(
      'nested',
      makePlan({
        nodes: {
          o: { component: loop, data: { items: [1, 2] } },
          i: { component: loop, data: { items: [1, 2, 3], concurrency: 3 } },
          w: work,
        },
        edges: ['o>i', 'i>w', 'w>i', 'i:done>o'],
      }),
    );
    const ended = await run('nested');
    expect(ended.result).toEqual({
      o: {
        results: [
          { results: ['0.0', '0.1', '0.2'], count: 3 },
          { results: ['1.0', '1.1', '1.2'], count: 3 },
        ],
        count: 2,
      },
    });
    expect(most).toBe(3);
  });

  it('gathers the tasks of a Parallel in the order of its edges, for those who refer to it', async () => {
    const slow = makeComponent('Slow', {
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { kind: 'done', output: 'slow' };
      },
    });
    const join = makeComponent('Join');
    ground.plans.set(
      'gather',
      makePlan({
        nodes: {
          p: parallel,
          a: slow,
          b: noop,
          j: { component: join, data: { seen: 1 } },
        },
        edges: ['p>a', 'p>b', 'b>j'],
        references: { j: ['p'] },
      }),
    );
    const ended = await run('gather');
    const events = await eventsOf(ended.id);
    expect(events.indexOf('node-completed p')).toBeLessThan(events.indexOf('node-started j'));
    const nodes = await engine.nodeRuns(ended.id);
    expect(nodes.find(({ nodeId }) => nodeId === 'p')?.output).toEqual({
      results: ['slow', 'NoOp'],
    });
  });

  it('has three hundred nodes and no more than the allowed number of them at once', async () => {
    let running = 0;
    let most = 0;
    const work = makeComponent('Work', {
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { kind: 'done', output: 1 };
      },
    });
    const ids = Array.from({ length: 298 }, (_, index) => `n${index}`);
    const nodes = Object.fromEntries(ids.map((id) => [id, work]));
    ground.plans.set(
      'wide',
      makePlan({
        nodes: { a: noop, ...nodes, z: noop },
        edges: ids.flatMap((id) => [`a>${id}`, `${id}>z`]),
      }),
    );
    const ended = await run('wide');
    expect(ended.status).toBe('completed');
    expect(most).toBe(4);
    expect(await engine.nodeRuns(ended.id)).toHaveLength(300);
  });

  it('is started once for one idempotency key of one owner', async () => {
    ground.plans.set('keyed', makePlan({ nodes: { a: noop }, edges: [] }));
    const request = startOf('keyed', { idempotencyKey: 'k1' });
    const [first, second] = await Promise.all([engine.start(request), engine.start(request)]);
    expect(second.id).toBe(first.id);
    const other = await engine.start({ ...request, ownerId: 'usr_other' });
    expect(other.id).not.toBe(first.id);
  });
});
