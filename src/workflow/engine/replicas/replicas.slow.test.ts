import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import type { Database } from '../../../kit/database/database.ts';
import type { WorkflowEngine } from '../engine.ts';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  startOf,
  type EngineGround,
} from '../testing.ts';

let ground: EngineGround;
const opened: AsyncDisposable[] = [];

beforeAll(async () => {
  ground = await openEngineGround();
});
afterEach(async () => {
  // What is still open would take what the next test looks at.
  await Promise.all(opened.splice(0).map((each) => each[Symbol.asyncDispose]()));
});
afterAll(async () => {
  await ground[Symbol.asyncDispose]();
});

/** A replica that beats fast; once cut off none of its statements arrives. */
async function openReplica(options: Parameters<typeof openTestEngine>[1] = {}) {
  let isCut = false;
  const database: Pick<Database, 'query'> = {
    query: async (text, parameters) => {
      if (isCut) throw new Fault('unavailable', 'cut off');
      return ground.database.query(text, parameters);
    },
  };
  const { engine, run, spans } = await openTestEngine(
    { ...ground, database },
    { beatMs: 50, silenceMs: 400, ...options },
  );
  opened.push(engine);
  const cut = (value: boolean) => {
    isCut = value;
  };
  return { engine, run, spans, cut };
}

function makeGate() {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}

const noop = makeComponent('NoOp');

async function ended(engine: WorkflowEngine, id: string) {
  return engine.wait(id, { timeoutMs: 15_000 });
}

describe('a replica that is cut off', () => {
  it('loses its executions to another, which repeats nothing that was finished', async () => {
    const runs: string[] = [];
    const gate = makeGate();
    const keys = new Set<string>();
    const first = makeComponent('First', {
      run: (_data, { nodeId }) => {
        runs.push(nodeId);
        return { kind: 'done', output: 1 };
      },
    });
    const hang = makeComponent('Hang', {
      run: async (_data, { nodeId, idempotencyKey }) => {
        runs.push(nodeId);
        keys.add(idempotencyKey);
        if (runs.filter((id) => id === nodeId).length === 1) await gate.promise;
        return { kind: 'done', output: runs.length };
      },
    });
    ground.plans.set(
      'adopt',
      makePlan({ nodes: { a: first, b: hang, c: noop }, edges: ['a>b', 'b>c'] }),
    );
    const zombie = await openReplica();
    const { id } = await zombie.engine.start(startOf('adopt'));
    await expect.poll(() => runs).toEqual(['a', 'b']);
    zombie.cut(true);
    const other = await openReplica();
    expect(await ended(other.engine, id)).toMatchObject({ status: 'completed' });
    expect(runs).toEqual(['a', 'b', 'b']);
    expect(keys.size).toBe(1);
    const before = await other.engine.nodeRuns(id);
    zombie.cut(false);
    gate.resolve();
    await expect.poll(() => zombie.engine.activeCount).toBe(0);
    expect(await other.engine.nodeRuns(id)).toEqual(before);
  });

  it('loses its executions also where its last beat lies ahead, because the clock was set back', async () => {
    const gate = makeGate();
    let runs = 0;
    const hang = makeComponent('Hang', {
      run: async () => {
        runs += 1;
        if (runs === 1) await gate.promise;
        return { kind: 'done', output: runs };
      },
    });
    ground.plans.set('ahead', makePlan({ nodes: { a: hang }, edges: [] }));
    const dead = await openReplica();
    const { id } = await dead.engine.start(startOf('ahead'));
    await expect.poll(() => runs).toBe(1);
    dead.cut(true);
    await ground.database.query(
      `update workflow.replicas set beat_at = now() + interval '1 hour'`,
      [],
    );
    const other = await openReplica();
    expect(await ended(other.engine, id)).toMatchObject({ status: 'completed' });
    gate.resolve();
  });

  it('comes back under a new name and works on', async () => {
    ground.plans.set('plain', makePlan({ nodes: { a: noop }, edges: [] }));
    const replica = await openReplica();
    replica.cut(true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    replica.cut(false);
    expect(await replica.run('plain')).toMatchObject({ status: 'completed' });
  });
});

describe('an execution that waits', () => {
  const wait = (ms: number) =>
    makeComponent('Wait', {
      effect: 'none',
      run: () => ({ kind: 'parked', reason: 'wait', wakeAtMs: Date.now() + ms, output: 'slept' }),
    });
  const approval = makeComponent('Approval', {
    effect: 'none',
    run: () => ({ kind: 'parked', reason: 'approval', detail: { message: 'Well?' } }),
  });

  it('takes no memory, outlives its process and goes on when its time has come', async () => {
    ground.plans.set(
      'nap',
      makePlan({ nodes: { a: noop, w: wait(1_500), z: noop }, edges: ['a>w', 'w>z'] }),
    );
    const one = await openReplica();
    const { id } = await one.engine.start(startOf('nap'));
    await expect.poll(async () => (await one.engine.find(id))?.status).toBe('waiting');
    await expect.poll(() => one.engine.activeCount).toBe(0);
    await one.engine[Symbol.asyncDispose]();
    const two = await openReplica();
    expect(await ended(two.engine, id)).toMatchObject({ status: 'completed' });
    const nodes = await two.engine.nodeRuns(id);
    expect(nodes.find(({ nodeId }) => nodeId === 'w')).toMatchObject({ output: 'slept' });
    expect(nodes).toHaveLength(3);
  });

  it('is answered exactly once, whoever answers where and at the same time', async () => {
    ground.plans.set(
      'ask',
      makePlan({
        nodes: { q: approval, yes: noop, no: noop },
        edges: ['q:approved>yes', 'q:rejected>no'],
      }),
    );
    const one = await openReplica();
    const two = await openReplica();
    const { id } = await one.engine.start(startOf('ask'));
    const at = { executionId: id, nodeId: 'q', iteration: '' };
    expect(await two.engine.signal({ ...at, nodeId: 'x' }, { output: 1 })).toBe(false);
    await expect.poll(async () => (await one.engine.find(id))?.status).toBe('waiting');
    const taken = await Promise.all([
      one.engine.signal(at, { output: { approved: true }, handle: 'approved' }),
      two.engine.signal(at, { output: { approved: true }, handle: 'approved' }),
      one.engine.signal(at, { output: { approved: true }, handle: 'approved' }),
    ]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await ended(one.engine, id)).toMatchObject({ result: { yes: 'NoOp' } });
    expect(await two.engine.signal(at, { output: 1 })).toBe(false);
  });

  it('takes an answer while other nodes still run, from another replica too', async () => {
    const gate = makeGate();
    const hang = makeComponent('Hang', {
      run: async () => {
        await gate.promise;
        return { kind: 'done', output: 1 };
      },
    });
    ground.plans.set(
      'both',
      makePlan({ nodes: { q: approval, h: hang, after: noop }, edges: ['q>after'] }),
    );
    const one = await openReplica({ concurrency: 1 });
    const two = await openReplica();
    const { id } = await one.engine.start(startOf('both'));
    const at = { executionId: id, nodeId: 'q', iteration: '' };
    await expect
      .poll(async () => (await one.engine.nodeRuns(id)).map(({ status }) => status))
      .toContain('waiting');
    expect(await two.engine.signal(at, { output: 1 })).toBe(true);
    await expect
      .poll(async () => (await two.engine.nodeRuns(id)).map(({ nodeId }) => nodeId))
      .toContain('after');
    gate.resolve();
    expect(await ended(two.engine, id)).toMatchObject({ status: 'completed' });
  });

  it('fails when nobody answers in time', async () => {
    const short = makeComponent('Approval', {
      run: () => ({ kind: 'parked', reason: 'approval', wakeAtMs: Date.now() + 50 }),
    });
    ground.plans.set('hurry', makePlan({ nodes: { q: short }, edges: [] }));
    const { run } = await openReplica();
    expect(await run('hurry')).toMatchObject({ error: { nodeId: 'q', code: 'APPROVAL_TIMEOUT' } });
  });

  it('is woken by the executions that its nodes wait for, also by one that was faster', async () => {
    const { engine } = await openReplica();
    const child = makeComponent('Child', {
      run: async (_data, { executionId, nodeId, iteration, ownerId }) => {
        const started = await engine.start({
          ...startOf('inner', { ownerId, trigger: 'workflow' }),
          parent: { executionId, nodeId, iteration, depth: 1 },
        });
        await engine.wait(started.id, { timeoutMs: nodeId === 'fast' ? 5_000 : 0 });
        return { kind: 'parked', reason: 'child', detail: { executionId: started.id } };
      },
    });
    const slow = makeComponent('Slow', {
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { kind: 'done', output: 'deep' };
      },
    });
    ground.plans.set('inner', makePlan({ nodes: { s: slow }, edges: [] }));
    ground.plans.set('outer', makePlan({ nodes: { fast: child, late: child }, edges: [] }));
    const { id } = await engine.start(startOf('outer'));
    expect(await ended(engine, id)).toMatchObject({
      status: 'completed',
      result: { fast: { result: { s: 'deep' } }, late: { result: { s: 'deep' } } },
    });
  });
});

describe('cancelling', () => {
  it('aborts what runs on another replica, and is the last thing that happens', async () => {
    let isAborted = false;
    const hang = makeComponent('Hang', {
      run: (_data, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            isAborted = true;
            reject(new Error('aborted'));
          });
        }),
    });
    ground.plans.set('hang', makePlan({ nodes: { a: noop, h: hang }, edges: ['a>h'] }));
    const one = await openReplica();
    const two = await openReplica();
    const { id } = await one.engine.start(startOf('hang'));
    await expect
      .poll(async () => (await two.engine.nodeRuns(id)).map(({ nodeId }) => nodeId))
      .toContain('h');
    expect(await two.engine.cancel(id, 'usr_test')).toMatchObject({ status: 'cancelled' });
    await expect.poll(() => isAborted).toBe(true);
    const types: string[] = [];
    const seqs: number[] = [];
    for await (const { type, seq } of two.engine.follow(id, 0, AbortSignal.timeout(5_000))) {
      types.push(type);
      seqs.push(seq);
    }
    expect(types.at(-1)).toBe('workflow-cancelled');
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const nodes = await two.engine.nodeRuns(id);
    expect(nodes.map(({ status }) => status)).toEqual(['completed', 'cancelled']);
    await expect(one.engine.cancel(id, 'usr_test')).rejects.toMatchObject({
      reason: 'already_ended',
    });
  });

  it('and ending at the same time have one outcome, for everybody the same', async () => {
    ground.plans.set('quick', makePlan({ nodes: { a: noop, b: noop }, edges: ['a>b'] }));
    const { engine } = await openReplica();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { id } = await engine.start(startOf('quick'));
        const cancelled = await engine.cancel(id, 'usr_test').then(
          () => 'cancelled',
          () => 'completed',
        );
        return { cancelled, status: (await ended(engine, id)).status };
      }),
    );
    for (const { cancelled, status } of outcomes) expect(status).toBe(cancelled);
  });
});

describe('going on', () => {
  it('after a failure runs again only what did not finish', async () => {
    const runs: string[] = [];
    let isBroken = true;
    const work = makeComponent('Work', {
      run: (_data, { nodeId }) => {
        runs.push(nodeId);
        if (nodeId === 'b' && isBroken) throw new Fault('upstream', 'not now');
        return { kind: 'done', output: nodeId };
      },
    });
    ground.plans.set(
      'again',
      makePlan({ nodes: { a: work, b: work, c: work }, edges: ['a>b', 'b>c'] }),
    );
    const { engine, run } = await openReplica();
    const { id } = await run('again');
    isBroken = false;
    await engine.resume(id);
    expect(await ended(engine, id)).toMatchObject({ status: 'completed', result: { c: 'c' } });
    expect(runs).toEqual(['a', 'b', 'b', 'c']);
    await expect(engine.resume(id)).rejects.toMatchObject({ reason: 'not_resumable' });
    const again = await engine.rerun(id, { fromNode: 'b', ownerId: 'usr_test' });
    expect(await ended(engine, again.id)).toMatchObject({ status: 'completed' });
    expect(runs.slice(4)).toEqual(['b', 'c']);
    await expect(engine.rerun(id, { fromNode: 'x', ownerId: 'u' })).rejects.toMatchObject({
      reason: 'node_not_found',
    });
  });

  it('waits in order for a place when as many run as may', async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const work = makeComponent('Work', {
      run: async (_data, { executionId }) => {
        order.push(executionId);
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
        return { kind: 'done', output: 1 };
      },
    });
    ground.plans.set('busy', makePlan({ nodes: { a: work }, edges: [] }));
    const { engine } = await openReplica({ concurrency: 2 });
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push((await engine.start(startOf('busy'))).id);
    for (const id of ids) expect((await ended(engine, id)).status).toBe('completed');
    expect(most).toBeLessThanOrEqual(2);
    expect(new Set(order).size).toBe(20);
  });

  it('tells of the end of a batch’s item once more when nobody confirmed it', async () => {
    ground.plans.set('item', makePlan({ nodes: { a: noop }, edges: [] }));
    const one = await openReplica();
    one.engine.onEnded(() => Promise.reject(new Error('the listener is away')));
    const { id } = await one.run('item', { batch: { id: 'bat_1', index: 0 } });
    await one.engine[Symbol.asyncDispose]();
    const told: string[] = [];
    await ground.database.query(`update workflow.executions set tell_at = now() where id = $1`, [
      id,
    ]);
    const two = await openReplica();
    two.engine.onEnded(async (execution) => void told.push(execution.id));
    await expect.poll(() => told).toContain(id);
    await expect
      .poll(() =>
        ground.database.query('select tell_at from workflow.executions where id = $1', [id]),
      )
      .toEqual([{ tell_at: null }]);
  });
});
