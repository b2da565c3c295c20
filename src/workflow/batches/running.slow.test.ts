import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { Batch } from './batch.ts';
import type { Batches, BatchRequest } from './batches.ts';
import { openGround } from './testing.ts';

const owner = { subject: 'usr_a', isAdmin: false };
let ground: Awaited<ReturnType<typeof openGround>>;
let batches: Batches;

beforeAll(async () => {
  ground = await openGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

beforeEach(async () => {
  const { engine } = ground;
  await batches?.[Symbol.asyncDispose]();
  await ground.database.query('delete from workflow.batches');
  engine.clear();
  batches = ground.openBatches();
  await batches.start();
});

afterAll(() => batches[Symbol.asyncDispose]());

function requestOf(count: number, over: Partial<BatchRequest> = {}): BatchRequest {
  return {
    workflowId: 'wfl_1',
    ownerId: owner.subject,
    inputs: Array.from({ length: count }, (_, n) => ({ n })),
    concurrency: 5,
    failureMode: 'continue',
    ...over,
  };
}

async function until(id: string, status: Batch['status'], from = batches): Promise<Batch> {
  await vi.waitFor(async () => expect((await from.read(id, owner)).status).toBe(status), {
    timeout: 20_000,
    interval: 20,
  });
  return from.read(id, owner);
}

async function itemStatuses(id: string): Promise<string[]> {
  const { items } = await batches.items(id, undefined, { limit: 100, offset: 0 });
  return items.map(({ status }) => status);
}

describe('a batch is refused', () => {
  test('of a workflow that is not there', async () => {
    await expect(batches.create(requestOf(1, { workflowId: 'nope' }))).rejects.toMatchObject({
      reason: 'workflow_not_found',
    });
  });

  test('with a private address to call back, and nothing is stored', async () => {
    await using strict = await openGround({ isLoopbackAllowed: false });
    const own = strict.openBatches();
    for (const progressCallback of ['http://127.0.0.1:1/', 'http://10.0.0.1/', 'http://[::1]/']) {
      await expect(own.create(requestOf(1, { progressCallback }))).rejects.toMatchObject({
        reason: 'egress_blocked',
      });
    }
    const all = await own.list({}, owner, { limit: 1, offset: 0 });
    expect(all.total).toBe(0);
  });

  test('to whoever has a hundred open', async () => {
    ground.engine.verdictOf = () => 'hold';
    for (let count = 0; count < 100; count += 1) await batches.create(requestOf(1));
    await expect(batches.create(requestOf(1))).rejects.toMatchObject({
      reason: 'too_many_batches',
    });
    await batches.create(requestOf(1, { ownerId: 'usr_b' }));
  });

  test('to be read, cancelled and resumed by somebody else, but for administrators', async () => {
    const { id } = await batches.create(requestOf(1));
    const other = { subject: 'usr_b', isAdmin: false };
    for (const act of [
      () => batches.read(id, other),
      () => batches.cancel(id, other),
      () => batches.resume(id, other),
    ]) {
      await expect(act()).rejects.toMatchObject({ reason: 'batch_not_found' });
    }
    expect((await batches.read(id, { ...other, isAdmin: true })).id).toBe(id);
  });
});

describe('items that fail', () => {
  test('leave the others alone, and the batch completes', async () => {
    ground.engine.verdictOf = (_, index = 0) => (index % 3 === 0 ? 'failed' : 'completed');
    const { id } = await batches.create(requestOf(10));
    const batch = await until(id, 'completed');
    expect(batch).toMatchObject({ completed: 6, failed: 4, cancelled: 0, skipped: 0, total: 10 });
    expect(batch.tokensUsed).toBe(30);
    const { items, total } = await batches.items(id, 'failed', { limit: 2, offset: 2 });
    expect(total).toBe(4);
    expect(items.map(({ index }) => index)).toEqual([6, 9]);
    expect(items[0]).toMatchObject({ error: { nodeId: 'n', code: 'BROKEN' } });
  });

  test('stop the batch where it is to stop: what runs is cancelled, the rest is skipped', async () => {
    ground.engine.verdictOf = (_, index = 0) => (index === 1 ? 'failed' : 'hold');
    const { id } = await batches.create(requestOf(8, { failureMode: 'stop', concurrency: 3 }));
    const batch = await until(id, 'completed');
    expect(batch).toMatchObject({ completed: 0, failed: 1, cancelled: 2, skipped: 5 });
    expect((await itemStatuses(id)).slice(0, 4)).toEqual([
      'cancelled',
      'failed',
      'cancelled',
      'skipped',
    ]);
    expect(ground.engine.runningCount).toBe(0);
    expect(ground.engine.starts).toHaveLength(3);
  });

  test('because their execution is refused say why; one that is only held up is tried again', async () => {
    const reason = 'workflow_not_active';
    ground.engine.failures.push(
      new Fault('conflict', 'it was archived', { reason }),
      new Fault('unavailable', 'the database does not answer'),
    );
    const { id } = await batches.create(requestOf(3, { concurrency: 1 }));
    const batch = await until(id, 'completed');
    expect(batch).toMatchObject({ completed: 2, failed: 1 });
    const { items } = await batches.items(id, 'failed', { limit: 10, offset: 0 });
    expect(items).toMatchObject([{ index: 0, error: { code: 'WORKFLOW_NOT_ACTIVE' } }]);
  });
});

describe('a cancelled batch', () => {
  test('cancels what runs and starts nothing more', async () => {
    ground.engine.verdictOf = () => 'hold';
    const { id } = await batches.create(requestOf(20, { concurrency: 4 }));
    await vi.waitFor(() => expect(ground.engine.runningCount).toBe(4));
    const batch = await batches.cancel(id, owner);
    expect(batch).toMatchObject({ status: 'cancelled', cancelled: 20, completed: 0 });
    expect(ground.engine.runningCount).toBe(0);
    await expect(batches.cancel(id, owner)).rejects.toMatchObject({ reason: 'already_ended' });
  });

  test('is cancelled by another replica than its own, too', async () => {
    ground.engine.verdictOf = () => 'hold';
    const { id } = await batches.create(requestOf(5));
    await vi.waitFor(() => expect(ground.engine.runningCount).toBe(5));
    await using other = ground.openBatches();
    await other.start();
    await other.cancel(id, owner);
    expect((await until(id, 'cancelled')).cancelled).toBe(5);
  });

  test('goes on when it is resumed: items that had begun are resumed, others begin', async () => {
    ground.engine.verdictOf = (_, index = 0) => (index === 0 ? 'completed' : 'hold');
    const { id } = await batches.create(requestOf(4, { concurrency: 2 }));
    await expect(batches.resume(id, owner)).rejects.toMatchObject({ reason: 'not_resumable' });
    await vi.waitFor(async () => expect((await batches.read(id, owner)).completed).toBe(1));
    await vi.waitFor(() => expect(ground.engine.runningCount).toBe(2));
    await batches.cancel(id, owner);
    ground.engine.verdictOf = () => 'completed';
    await batches.resume(id, owner);
    expect(await until(id, 'completed')).toMatchObject({ completed: 4, cancelled: 0 });
    expect(ground.engine.resumed).toHaveLength(2);
    expect(ground.engine.starts).toHaveLength(4);
    await expect(batches.resume(id, owner)).rejects.toMatchObject({ reason: 'not_resumable' });
  });
});

describe('replicas', () => {
  test('go on with the batch of one that died, and repeat nothing that is done', async () => {
    await batches[Symbol.asyncDispose]();
    let nowMs = Date.now();
    const now = () => nowMs;
    ground.engine.verdictOf = (_, index = 0) => (index < 3 ? 'completed' : 'hold');
    const dying = ground.openBatches({ now });
    await dying.start();
    const { id } = await dying.create(requestOf(9, { concurrency: 3 }));
    await vi.waitFor(async () => expect((await dying.read(id, owner)).completed).toBe(3));
    await vi.waitFor(() => expect(ground.engine.runningCount).toBe(3));
    // Its lease runs out, and it does not know.
    nowMs += 20_000;
    await using heir = ground.openBatches({ now });
    await heir.start();
    ground.engine.verdictOf = () => 'completed';
    for (const { id: running, status } of ground.engine.executions.values()) {
      if (status === 'running') ground.engine.end(running, 'completed');
    }
    const batch = await until(id, 'completed', heir);
    expect(batch).toMatchObject({ completed: 9, failed: 0, epoch: 2, lastSeq: 10 });
    expect(ground.engine.starts).toHaveLength(9);
    expect(dying.runningCount).toBe(0);
    await dying[Symbol.asyncDispose]();
  });

  test('share batches: each is run by one, and no item twice', async () => {
    await using other = ground.openBatches();
    await other.start();
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) => (n % 2 ? batches : other).create(requestOf(20))),
    );
    for (const { id } of made) await until(id, 'completed');
    expect(ground.engine.starts).toHaveLength(120);
    expect(new Set(ground.engine.starts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(
      120,
    );
  });
});

describe('a batch', () => {
  test('runs as many items at once as it may', async () => {
    const { id } = await batches.create(requestOf(60, { concurrency: 7 }));
    await until(id, 'completed');
    expect(ground.engine.mostRunning).toBe(7);
    expect(ground.engine.starts[0]).toMatchObject({
      trigger: 'batch',
      version: 1,
      idempotencyKey: `${id}:0`,
      batch: { id, index: 0 },
    });
  });

  test('never tells of more ends than it counts, though one comes while they are read', async () => {
    const { id } = await batches.create(requestOf(3));
    await until(id, 'completed');
    const { database } = ground;
    const query = database.query.bind(database);
    database.query = async <Row>(sql: string, parameters?: readonly unknown[]) => {
      const rows = await query<Row>(sql, parameters);
      const isBatch = sql.includes('from workflow.batches b where b.id');
      return isBatch ? rows.map((row) => ({ ...row, last_seq: 2, completed: 2 })) : rows;
    };
    const { batch, ends } = await batches.eventsAfter(id, 0, 10).finally(() => {
      database.query = query;
    });
    expect([batch?.completed, ends.map(({ seq }) => seq)]).toEqual([2, [1, 2]]);
  });

  test('is made once for a key of its owner', async () => {
    const first = await batches.create(requestOf(2, { idempotencyKey: 'k' }));
    const second = await batches.create(requestOf(2, { idempotencyKey: 'k' }));
    const other = batches.create(requestOf(3, { idempotencyKey: 'k' }));
    await expect(other).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
    const foreign = await batches.create(requestOf(2, { idempotencyKey: 'k', ownerId: 'usr_b' }));
    expect(second.id).toBe(first.id);
    expect(foreign.id).not.toBe(first.id);
  });

  test('is listed to its owner, the newest first', async () => {
    const a = await batches.create(requestOf(1));
    const b = await batches.create(requestOf(1, { workflowId: 'wfl_2' }));
    await batches.create(requestOf(1, { ownerId: 'usr_b' }));
    const all = await batches.list({}, owner, { limit: 10, offset: 0 });
    expect(all.batches.map(({ id }) => id)).toEqual([b.id, a.id]);
    const some = await batches.list({ workflowId: 'wfl_2' }, owner, { limit: 10, offset: 0 });
    expect(some.total).toBe(1);
  });
});
