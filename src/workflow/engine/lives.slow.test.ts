import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { createSubWorkflow } from '../components/logic/sub-workflow.ts';
import { systemClock } from './clock.ts';
import type { WorkflowEngine } from './engine.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

const noop = makeComponent('NoOp');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const ended = (engine: WorkflowEngine, id: string) => engine.wait(id, { timeoutMs: 20_000 });

/** A node that runs as long as it is let. */
function makeHang() {
  let runs = 0;
  const component = makeComponent('Hang', {
    run: (_data, { signal }) => {
      runs += 1;
      if (runs > 1) return { kind: 'done', output: 'second life' };
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
  });
  return { component, runs: () => runs };
}

describe('an execution whose process ends', () => {
  it('is given back with what still runs, and goes on at the next start', async () => {
    const hang = makeHang();
    ground.plans.set(
      'stopped',
      makePlan({ nodes: { a: noop, h: hang.component, z: noop }, edges: ['a>h', 'h>z'] }),
    );
    const one = await openTestEngine(ground);
    const { id } = await one.engine.start(startOf('stopped'));
    await expect.poll(hang.runs).toBe(1);
    await one.engine[Symbol.asyncDispose]();
    const rows = await ground.database.query(
      'select status, replica from workflow.executions where id = $1',
      [id],
    );
    expect(rows).toEqual([{ status: 'queued', replica: null }]);
    const two = await openTestEngine(ground);
    expect(await ended(two.engine, id)).toMatchObject({ status: 'completed' });
    expect(hang.runs()).toBe(2);
    const nodes = await two.engine.nodeRuns(id);
    expect(nodes.map(({ nodeId, output }) => [nodeId, output])).toEqual([
      ['a', 'NoOp'],
      ['h', 'second life'],
      ['z', 'NoOp'],
    ]);
    await two.engine[Symbol.asyncDispose]();
  });

  it('goes on with the attempts of a node and the pause that was left', async () => {
    const attempts: number[] = [];
    const away = makeComponent('Away', {
      run: (_data, { attempt }) => {
        attempts.push(attempt);
        throw new Fault('unavailable', 'not now');
      },
    });
    const retry = {
      enabled: true,
      maxAttempts: 3,
      backoff: 'fixed',
      initialDelay: 60_000,
    } as const;
    ground.plans.set('tried', makePlan({ nodes: { a: { component: away, retry } }, edges: [] }));
    let nowMs = Date.now();
    const due: { readonly atMs: number; readonly callback: () => void }[] = [];
    const clock = {
      nowMs: () => nowMs,
      random: () => 0,
      after: (delayMs: number, callback: () => void) => {
        const timer = { atMs: nowMs + delayMs, callback };
        due.push(timer);
        return () => void due.splice(due.indexOf(timer), 1);
      },
    };
    const pass = (ms: number) => {
      nowMs += ms;
      for (const timer of due.filter(({ atMs }) => atMs <= nowMs)) timer.callback();
    };
    const pauses = () => due.map(({ atMs }) => atMs - nowMs);
    const one = await openTestEngine(ground, { clock });
    const { id } = await one.engine.start(startOf('tried'));
    await expect.poll(pauses).toEqual([60_000]);
    pass(20_000);
    await one.engine[Symbol.asyncDispose]();
    expect(attempts).toEqual([1]);

    const two = await openTestEngine(ground, { clock });
    await expect.poll(pauses).toEqual([40_000]);
    expect(attempts).toEqual([1]);
    expect(await two.engine.nodeRuns(id)).toMatchObject([{ status: 'running', attempt: 2 }]);
    pass(40_000);
    await expect.poll(pauses).toEqual([60_000]);
    await two.engine[Symbol.asyncDispose]();

    // The clock that said when was ahead.
    nowMs -= 3_600_000;
    const three = await openTestEngine(ground, { clock });
    await expect.poll(pauses).toEqual([60_000]);
    pass(60_000);
    const over = { status: 'failed', error: { nodeId: 'a', attempt: 3 } };
    expect(await ended(three.engine, id)).toMatchObject(over);
    expect(attempts).toEqual([1, 2, 3]);

    await three.engine.resume(id);
    await expect.poll(() => attempts).toEqual([1, 2, 3, 1]);
    await three.engine.cancel(id, 'usr_test');
    await three.engine[Symbol.asyncDispose]();
  });

  it('names the node at which its timeout found it, whoever finds that out', async () => {
    const hang = makeHang();
    ground.plans.set(
      'overdue',
      makePlan({
        nodes: { a: noop, h: hang.component },
        edges: ['a>h'],
        settings: { timeout: 60_000 },
      }),
    );
    const one = await openTestEngine(ground);
    const { id } = await one.engine.start(startOf('overdue'));
    await expect.poll(hang.runs).toBe(1);
    await one.engine[Symbol.asyncDispose]();
    const late = { ...systemClock, nowMs: () => Date.now() + 61_000 };
    const two = await openTestEngine(ground, { clock: late });
    const over = { status: 'failed', error: { nodeId: 'h', code: 'WORKFLOW_TIMEOUT' } };
    expect(await ended(two.engine, id)).toMatchObject(over);
    expect(hang.runs()).toBe(1);
    await two.engine[Symbol.asyncDispose]();
  });

  it('has no more time than its timeout, whenever it goes on', async () => {
    const waiting = makeComponent('Approval', {
      run: () => ({ kind: 'parked', reason: 'approval' }),
    });
    ground.plans.set(
      'timed',
      makePlan({ nodes: { q: waiting }, edges: [], settings: { timeout: 1_200 } }),
    );
    const one = await openTestEngine(ground);
    const { id } = await one.engine.start(startOf('timed'));
    await expect.poll(async () => (await one.engine.find(id))?.status).toBe('waiting');
    await one.engine[Symbol.asyncDispose]();
    await pause(1_300);
    const two = await openTestEngine(ground);
    const over = await ended(two.engine, id);
    expect(over).toMatchObject({ status: 'failed', error: { code: 'WORKFLOW_TIMEOUT' } });
    await two.engine[Symbol.asyncDispose]();
  });

  it('is taken over within 15 seconds, and what the former owner still says is not heard', async () => {
    let isCut = false;
    const hang = makeHang();
    ground.plans.set(
      'adopted',
      makePlan({ nodes: { a: noop, h: hang.component, z: noop }, edges: ['a>h', 'h>z'] }),
    );
    const zombie = await openTestEngine({
      ...ground,
      database: {
        query: async (text, parameters) => {
          if (isCut) throw new Fault('unavailable', 'cut off');
          return ground.database.query(text, parameters);
        },
      },
    });
    const heir = await openTestEngine(ground);
    const { id } = await zombie.engine.start(startOf('adopted'));
    await expect.poll(hang.runs).toBe(1);
    isCut = true;
    const cutAtMs = Date.now();
    expect(await ended(heir.engine, id)).toMatchObject({ status: 'completed' });
    expect(Date.now() - cutAtMs).toBeLessThan(15_000);
    const before = await heir.engine.nodeRuns(id);
    isCut = false;
    await expect.poll(() => zombie.engine.activeCount).toBe(0);
    expect(await heir.engine.nodeRuns(id)).toEqual(before);
    expect(await zombie.run('adopted')).toMatchObject({ status: 'completed' });
    await zombie.engine[Symbol.asyncDispose]();
    await heir.engine[Symbol.asyncDispose]();
  });
});

it('the outputs of an execution have 32 MiB together', async () => {
  const large = makeComponent('Large', {
    effect: 'none',
    run: () => ({ kind: 'done', output: 'x'.repeat(2 ** 20 - 2) }),
  });
  const ids = Array.from({ length: 33 }, (_, index) => `n${index}`);
  ground.plans.set(
    'heavy',
    makePlan({
      nodes: Object.fromEntries(ids.map((id) => [id, large])),
      edges: ids.slice(1).map((id, index) => `${ids[index]}>${id}`),
    }),
  );
  const { engine, run } = await openTestEngine(ground);
  const over = await run('heavy');
  expect(over).toMatchObject({
    status: 'failed',
    retryable: false,
    error: { nodeId: 'n32', code: 'OUTPUTS_TOO_LARGE' },
  });
  const nodes = await engine.nodeRuns(over.id);
  expect(nodes.filter(({ status }) => status === 'completed')).toHaveLength(32);
  await engine[Symbol.asyncDispose]();
});

describe('an execution that is resumed', () => {
  it('runs a failed one within anew, and has those go on that were cancelled with it', async () => {
    let mood: 'bad' | 'good' = 'bad';
    let gates = 0;
    const fickle = makeComponent('Fickle', {
      run: async () => {
        if (mood === 'good') return { kind: 'done', output: mood };
        // Its siblings wait for theirs by then.
        await expect.poll(() => gates).toBe(2);
        throw new Fault('upstream', 'not now');
      },
    });
    const gated = makeComponent('Gated', {
      run: async () => {
        gates += 1;
        if (mood === 'bad') await new Promise(() => {});
        return { kind: 'done', output: 'patient' };
      },
    });
    const { engine } = await openTestEngine(ground);
    const child = createSubWorkflow({ starter: () => engine, requireNameable: async () => {} });
    ground.plans.set('fickle', makePlan({ nodes: { f: fickle }, edges: [] }));
    ground.plans.set('gated', makePlan({ nodes: { g: gated }, edges: [] }));
    ground.plans.set(
      'family',
      makePlan({
        nodes: {
          one: { component: child, data: { workflowId: 'fickle' } },
          two: { component: child, data: { workflowId: 'gated' } },
          three: { component: child, data: { workflowId: 'gated' } },
        },
        edges: [],
      }),
    );
    const { id } = await engine.start(startOf('family'));
    expect(await ended(engine, id)).toMatchObject({ status: 'failed', error: { nodeId: 'one' } });
    const childrenOf = async () => (await engine.list({}, { limit: 100, offset: 0 })).executions;
    const family = async () =>
      (await childrenOf()).filter(({ parent }) => parent?.executionId === id);
    const stands = async () =>
      (await family()).map(({ workflowId, status }) => `${workflowId} ${status}`).toSorted();
    await expect.poll(stands).toEqual(['fickle failed', 'gated cancelled', 'gated cancelled']);
    mood = 'good';
    await engine.resume(id);
    expect(await ended(engine, id)).toMatchObject({
      status: 'completed',
      result: {
        one: { result: { f: 'good' } },
        two: { result: { g: 'patient' } },
        three: { result: { g: 'patient' } },
      },
    });
    expect(await stands()).toEqual(['fickle completed', 'gated completed', 'gated completed']);
    expect(gates).toBeGreaterThanOrEqual(2);
    await engine[Symbol.asyncDispose]();
  });

  it('takes no late answer of an execution within that it no longer waits for', async () => {
    const { engine } = await openTestEngine(ground);
    const waiting = makeComponent('Child', {
      run: () => ({ kind: 'parked', reason: 'child', detail: { executionId: 'exe_new' } }),
    });
    ground.plans.set('bereaved', makePlan({ nodes: { c: waiting }, edges: [] }));
    const { id } = await engine.start(startOf('bereaved'));
    const at = { executionId: id, nodeId: 'c', iteration: '' };
    await expect.poll(async () => (await engine.find(id))?.status).toBe('waiting');
    expect(await engine.signal({ ...at, childId: 'exe_old' }, { output: 'old' })).toBe(false);
    expect(await engine.signal({ ...at, childId: 'exe_new' }, { output: 'new' })).toBe(true);
    expect(await ended(engine, id)).toMatchObject({ result: { c: 'new' } });
    await engine[Symbol.asyncDispose]();
  });
});
