import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { asShared } from '../../kit/database/testing.ts';
import { openTracerDatabase } from '../series/testing.ts';
import { exportOf, newTraceId, startTracer, type Answer } from '../testing.ts';

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const rootId = '1'.repeat(16);
const childId = '2'.repeat(16);
const never = { TRACER_QUIET_MS: '60000', TRACER_PARTIAL_MS: '60000' };

/** How many rows the traces have that are open, and how many chunks owe some. */
async function countOpen(): Promise<{ readonly rows: number; readonly chunks: number }> {
  const [counts] = await database.query<{ rows: number; chunks: number }>(
    `select (select count(*) from tracer.open_trace) as rows,
       (select count(*) from tracer.open_chunk) as chunks`,
  );
  return counts ?? { rows: 0, chunks: 0 };
}

/** PostgreSQL's other replicas read the rows, so there they are written with the spans. */
const owesRows = () => database.dialect === 'pglite';

/** Other replicas take up what nobody has added to for a minute. */
async function letMinutePass(): Promise<void> {
  await database.query(
    `update tracer.open_trace set touched_at = touched_at - interval '61 seconds'`,
  );
}

type Tracer = Awaited<ReturnType<typeof startTracer>>;

/** How many traces of a name are counted. */
async function countNamed(tracer: Tracer, name: string): Promise<number | undefined> {
  const { body } = await tracer.call('GET', '/api/v1/metrics/aggregate?timeRange=1h');
  return body.aggregations.find(({ key }: Answer) => key === name)?.metrics.totalRequests;
}

test('what was acknowledged and never read outlives the process, and is counted once', async () => {
  const traceId = newTraceId();
  {
    await using before = await startTracer({ database, environment: never });
    const root = { traceId, spanId: rootId, from: 0, to: 9, name: 'kept' };
    const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
    expect((await before.send(exportOf('shop', [root]))).status).toBe(200);
    expect((await before.send(exportOf('db', [child, child]))).status).toBe(200);
  }
  expect(await countOpen()).toEqual(owesRows() ? { rows: 0, chunks: 2 } : { rows: 1, chunks: 0 });
  await letMinutePass();

  await using after = await startTracer({ database });
  const detail = await after.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  expect(detail).toMatchObject({ name: 'kept', revision: 1, totalSpans: 2 });
  expect(await countNamed(after, 'kept')).toBe(1);
  await vi.waitFor(async () => expect(await countOpen()).toEqual({ rows: 0, chunks: 0 }));
});

test('what a process that ended left open is complete at once, and counted', async () => {
  const shared = asShared(database);
  const traceId = newTraceId();
  {
    await using before = await startTracer({ database: shared, environment: never });
    const root = { traceId, spanId: rootId, from: 0, to: 9, name: 'left' };
    expect((await before.send(exportOf('shop', [root]))).status).toBe(200);
  }
  await using after = await startTracer({ database: shared });
  await after.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  expect(await countNamed(after, 'left')).toBe(1);
});

test('what another process holds is left to it, until that is not seen any more', async () => {
  const shared = asShared(database);
  const traceId = newTraceId();
  await using holder = await startTracer({ database: shared, environment: never });
  await using other = await startTracer({ database: shared });
  const root = { traceId, spanId: rootId, from: 0, to: 9, name: 'held' };
  await holder.send(exportOf('shop', [root]));
  const isComplete = async () =>
    (await other.call('GET', `/api/v1/traces/${traceId}`)).body.isComplete;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await isComplete()).toBe(false);
  await vi.waitFor(
    async () => {
      await database.query(`update tracer.process set seen_at = seen_at - interval '1 hour'`);
      expect(await isComplete()).toBe(true);
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(await countNamed(other, 'held')).toBe(1);
});

test('a trace that was complete is not opened again with the others of its export', async () => {
  const [whole, open] = [newTraceId(), newTraceId()];
  {
    const environment = { TRACER_PARTIAL_MS: '60000' };
    await using before = await startTracer({ database, environment });
    const root = { traceId: whole, spanId: rootId, from: 0, to: 9, name: 'whole' };
    const orphan = { traceId: open, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
    await before.send(exportOf('shop', [root, orphan]));
    // Who asked for it would have its row written.
    await vi.waitFor(async () =>
      expect(await database.query('select from tracer.trace where name = $1', ['whole'])).toEqual([
        {},
      ]),
    );
  }
  expect(await countOpen()).toEqual(owesRows() ? { rows: 0, chunks: 1 } : { rows: 1, chunks: 0 });
  await letMinutePass();

  await using after = await startTracer({ database });
  await after.until(`/api/v1/traces/${open}`, (body) => body.isComplete && body.totalSpans === 1);
  const { body } = await after.call('GET', `/api/v1/traces/${whole}`);
  expect(body).toMatchObject({ isComplete: true, revision: 1, totalSpans: 1 });
});

test('a reader sees what was acknowledged just before, in lists, searches and by its id', async () => {
  await using tracer = await startTracer({ database, environment: never });
  const traceId = newTraceId();
  const root = { traceId, spanId: rootId, from: 0, to: 9, name: 'seen' };
  await tracer.send(exportOf('seen-shop', [root]));
  const list = await tracer.call('GET', '/api/v1/traces?name=seen');
  expect(list.body).toMatchObject({ total: 1, traces: [{ traceId, isComplete: false, spans: 1 }] });
  const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
  await tracer.send(exportOf('seen-shop', [child]));
  const detail = await tracer.call('GET', `/api/v1/traces/${traceId}`);
  expect(detail.body).toMatchObject({ traceId, totalSpans: 2, isComplete: false });
  const again = { traceId: newTraceId(), spanId: rootId, from: 0, to: 5 };
  await tracer.send(exportOf('seen-shop', [again]));
  const found = await tracer.call('GET', '/api/traces?service=seen-shop&lookback=1h');
  expect(found.body.data).toHaveLength(2);
});
