import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { createSubWorkflow, type ChildStarter } from '../components/logic/sub-workflow.ts';
import { createWait } from '../components/logic/wait.ts';
import type { WorkflowEngine } from './engine.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';
import type { Execution } from './execution.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;
let engine: WorkflowEngine;
let run: Awaited<ReturnType<typeof openTestEngine>>['run'];
let failures = 0;

const usage = { model: 'm', promptTokens: 1_000, completionTokens: 500, cost: 0.002 };
const model = makeComponent('Model', { run: () => ({ kind: 'done', output: 'said', usage }) });
const hang = makeComponent('Hang', { run: () => new Promise(() => {}) });
const shaky = makeComponent('Shaky', {
  run: () => {
    failures -= 1;
    if (failures >= 0) throw new Fault('unavailable', 'not now', { reason: 'http_503' });
    return { kind: 'done', output: 'at last', usage };
  },
});
const noop = makeComponent('NoOp');

beforeAll(async () => {
  ground = await openEngineGround();
  ({ engine, run } = await openTestEngine(ground));
  ground.plans.set('models', makePlan({ nodes: { a: model, b: model }, edges: ['a>b'] }));
  ground.plans.set('hang', makePlan({ nodes: { h: hang }, edges: [] }));
  ground.plans.set('shaky', makePlan({ nodes: { s: shaky }, edges: [] }));
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});
beforeEach(() => {
  failures = 0;
});

/** A flow of one node that runs another workflow, and is told of its start when `onStarted` has settled. */
function around(
  workflowId: string,
  node: object = {},
  settings: object = {},
  onStarted: () => Promise<void> = async () => {},
): void {
  const starter = (): ChildStarter => ({
    start: async (request) => {
      const child = await engine.start(request);
      await onStarted();
      return child;
    },
    find: async (id) => engine.find(id),
    list: async (filter, page) => engine.list(filter, page),
    cancelAbandoned: async (id) => engine.cancelAbandoned(id),
    goOn: async (id, going) => engine.goOn(id, going),
  });
  const component = createSubWorkflow({ starter, requireNameable: async () => {} });
  const sub = { component, data: { workflowId }, ...node };
  ground.plans.set('around', makePlan({ nodes: { sub, z: noop }, edges: ['sub>z'], settings }));
}

async function childrenOf({ id }: Pick<Execution, 'id'>): Promise<readonly Execution[]> {
  const parent = { executionId: id, nodeId: 'sub', iteration: '' };
  return (await engine.list({ parent }, { limit: 10, offset: 0 })).executions;
}

describe('a workflow within another', () => {
  it('counts in what the one around it used', async () => {
    around('models');
    const ended = await run('around');
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 3_000, cost: 0.004 });
    const [node] = await engine.nodeRuns(ended.id);
    expect(node).toMatchObject({ nodeId: 'sub', tokensUsed: 3_000, cost: 0.004 });
    expect(node?.modelUsed).toBeUndefined();
  });

  it.each([{ maxTokens: 1_000 }, { maxCost: 0.001 }])(
    'has the rest of the budget %j around it, and stops the whole beyond it',
    async (settings) => {
      around('models', {}, settings);
      const ended = await run('around');
      expect(ended).toMatchObject({
        status: 'failed',
        tokensUsed: 1_500,
        error: { nodeId: 'sub', code: 'BUDGET_EXCEEDED' },
      });
      expect(await childrenOf(ended)).toMatchObject([{ status: 'failed', tokensUsed: 1_500 }]);
    },
  );

  it('does not let the one around it go on beyond the budget, though its failure is no end', async () => {
    around('models', { onError: 'continue' }, { maxTokens: 1_000 });
    const ended = await run('around');
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'BUDGET_EXCEEDED' } });
  });

  it('has no more time than the node that waits for it', async () => {
    around('hang', { timeout: 1_500 });
    const ended = await run('around');
    // Whichever of the two notices first: the node, or the workflow within.
    const code = expect.stringMatching(/^(NODE|WORKFLOW)_TIMEOUT$/) as string;
    expect(ended).toMatchObject({ status: 'failed', error: { nodeId: 'sub', code } });
    await expect
      .poll(async () => childrenOf(ended), { timeout: 10_000 })
      .toMatchObject([{ status: 'failed' }]);
  });

  it('has no more time than is left around it', async () => {
    around('hang', {}, { timeout: 1_500 });
    const ended = await run('around');
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'WORKFLOW_TIMEOUT' } });
    // It notices by itself, unless the one around it, which ends at once, was first.
    await expect
      .poll(async () => (await childrenOf(ended))[0]?.status, { timeout: 10_000 })
      .toMatch(/^(failed|cancelled)$/);
  });

  it('is started anew as often as the node is to be tried', async () => {
    const retry = { enabled: true, maxAttempts: 3, backoff: 'fixed', initialDelay: 1 } as const;
    around('shaky', { retry });
    failures = 2;
    const ended = await run('around');
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 1_500 });
    const statuses = (await childrenOf(ended)).map(({ status }) => status);
    expect(statuses).toEqual(['completed', 'failed', 'failed']);
    const [node] = await engine.nodeRuns(ended.id);
    expect(node).toMatchObject({ nodeId: 'sub', attempt: 3, status: 'completed' });
    failures = 3;
    expect(await run('around')).toMatchObject({
      status: 'failed',
      retryable: true,
      error: { nodeId: 'sub', attempt: 3, code: 'HTTP_503' },
    });
  });
});

describe('a workflow within one that is resumed', () => {
  const first = makeComponent('First', {
    run: () => {
      firsts += 1;
      return { kind: 'done', output: 'said', usage };
    },
  });
  let firsts = 0;

  it('goes on from what failed in it, and is counted once', async () => {
    ground.plans.set('halves', makePlan({ nodes: { a: first, s: shaky }, edges: ['a>s'] }));
    around('halves', {}, { maxTokens: 4_000 });
    firsts = 0;
    failures = 1;
    const failed = await run('around');
    expect(failed).toMatchObject({ status: 'failed', retryable: true, tokensUsed: 1_500 });
    await engine.resume(failed.id);
    const ended = await engine.wait(failed.id, { timeoutMs: 20_000 });
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 3_000, cost: 0.004 });
    expect(firsts).toBe(1);
    expect(await childrenOf(ended)).toMatchObject([{ status: 'completed', tokensUsed: 3_000 }]);
    const [node] = await engine.nodeRuns(ended.id);
    expect(node).toMatchObject({ nodeId: 'sub', status: 'completed', tokensUsed: 3_000 });
  });

  it('goes on however deep it lies, as often as it is resumed', async () => {
    ground.plans.set('halves', makePlan({ nodes: { a: first, s: shaky }, edges: ['a>s'] }));
    const component = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
    const inner = { component, data: { workflowId: 'halves' } };
    ground.plans.set('middle', makePlan({ nodes: { inner }, edges: [] }));
    around('middle');
    firsts = 0;
    failures = 2;
    const { id } = await run('around');
    await engine.resume(id);
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: 'failed' });
    await engine.resume(id);
    const ended = await engine.wait(id, { timeoutMs: 20_000 });
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 3_000 });
    expect(firsts).toBe(1);
  });

  it('goes on where it was cancelled with the one around it', async () => {
    ground.plans.set('stuck', makePlan({ nodes: { a: first, h: hang }, edges: ['a>h'] }));
    around('stuck');
    firsts = 0;
    const { id } = await engine.start(startOf('around'));
    await expect.poll(() => firsts).toBe(1);
    await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
    await engine.cancel(id, 'usr_test');
    const [child] = await childrenOf({ id });
    expect(child?.status).toBe('cancelled');
    await engine.resume(id);
    await expect.poll(async () => (await childrenOf({ id }))[0]?.status).toBe('running');
    expect(await childrenOf({ id })).toHaveLength(1);
    expect(firsts).toBe(1);
    await engine.cancel(id, 'usr_test');
  });

  it('goes on though the one around it was cancelled while it was started', async () => {
    ground.plans.set('halves', makePlan({ nodes: { a: first, s: shaky }, edges: ['a>s'] }));
    const told = new EventEmitter();
    around('halves', {}, { maxTokens: 4_000 }, async () => {
      await once(told, 'told');
    });
    firsts = 0;
    failures = 1;
    const { id } = await engine.start(startOf('around'));
    await expect
      .poll(async () => (await childrenOf({ id }))[0])
      .toMatchObject({ status: 'failed', tokensUsed: 1_500 });
    await engine.cancel(id, 'usr_test');
    told.emit('told');
    await engine.resume(id);
    const ended = await engine.wait(id, { timeoutMs: 20_000 });
    expect(ended).toMatchObject({ status: 'completed', tokensUsed: 3_000 });
    expect(await childrenOf({ id })).toMatchObject([{ status: 'completed', tokensUsed: 3_000 }]);
    expect(firsts).toBe(1);
  });

  it('has no more than the rest of the budget around it', async () => {
    ground.plans.set(
      'halves',
      makePlan({ nodes: { a: first, s: shaky, b: model }, edges: ['a>s', 's>b'] }),
    );
    around('halves', {}, { maxTokens: 3_500 });
    failures = 1;
    const { id } = await run('around');
    await engine.resume(id);
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({
      status: 'failed',
      tokensUsed: 4_500,
      error: { nodeId: 'sub', code: 'BUDGET_EXCEEDED' },
    });
  });

  it('is started anew where the same again would fail, so that another version may run', async () => {
    const wrong = makeComponent('Wrong', {
      run: () => {
        throw new Fault('invalid', 'never', { reason: 'bad_setting' });
      },
    });
    ground.plans.set('wrong', makePlan({ nodes: { a: first, w: wrong }, edges: ['a>w'] }));
    around('wrong');
    const { id } = await run('around');
    ground.plans.set('wrong', makePlan({ nodes: { a: first, w: noop }, edges: ['a>w'] }));
    await engine.resume(id);
    expect(await engine.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: 'completed' });
    expect((await childrenOf({ id })).map(({ status }) => status)).toEqual(['completed', 'failed']);
  });
});

it('a wait that is longer than its timeout fails', async () => {
  const wait = createWait(Date.now);
  ground.plans.set(
    'waits',
    makePlan({
      nodes: { w: { component: wait, data: { duration: 3_600_000 }, timeout: 20 } },
      edges: [],
    }),
  );
  expect(await run('waits')).toMatchObject({
    status: 'failed',
    error: { nodeId: 'w', code: 'NODE_TIMEOUT' },
  });
});
