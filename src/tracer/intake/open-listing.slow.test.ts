import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { exportOf, newTraceId, startTracer, type Answer } from '../testing.ts';

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const rootId = '1'.repeat(16);
const childId = '2'.repeat(16);
const never = { TRACER_QUIET_MS: '60000', TRACER_PARTIAL_MS: '60000' };

type Tracer = Awaited<ReturnType<typeof startTracer>>;

/** On PGlite a process is alone, so it knows all that is open. */
const isAlone = () => database.dialect === 'pglite';

/** Sends one root each, the later ones of which begin later; answers their ids, the newest first. */
async function sendRoots(tracer: Tracer, name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newTraceId);
  for (const [at, traceId] of ids.entries()) {
    const span = {
      traceId,
      spanId: rootId,
      from: at,
      to: at * 11 + 5,
      name,
      isError: at % 5 === 0,
    };
    expect((await tracer.send(exportOf(`shop-${at % 2}`, [span]))).status).toBe(200);
  }
  return ids.toReversed();
}

const idsOf = ({ traces }: Answer): string[] => traces.map(({ traceId }: Answer) => traceId);

test('open traces are listed with the complete ones, without a row being written', async () => {
  let complete: string[];
  {
    await using before = await startTracer({ database });
    complete = await sendRoots(before, 'mixed', 5);
    await before.until(`/api/v1/traces?name=mixed`, ({ traces }) =>
      traces.every(({ isComplete }: Answer) => isComplete),
    );
  }
  await using tracer = await startTracer({ database, environment: never });
  const open = await sendRoots(tracer, 'mixed', 10);
  const list = async (query: string) =>
    (await tracer.call('GET', `/api/v1/traces?name=mixed${query}`)).body;
  const all = await list('');
  expect(all.total).toBe(15);
  expect(new Set(idsOf(all))).toEqual(new Set([...open, ...complete]));
  expect(idsOf(all).filter((id) => open.includes(id))).toEqual(open);

  const pages = [];
  for (const page of [1, 2, 3, 4]) pages.push(...idsOf(await list(`&limit=4&page=${page}`)));
  expect(pages).toEqual(idsOf(all));
  expect(await list('&status=error')).toMatchObject({ total: 3, errorRate: 3 / 15 });
  expect(await list('&status=error&service=shop-0')).toMatchObject({ total: 2, errorRate: 2 / 8 });
  expect(await list('&status=success')).toMatchObject({ total: 12 });
  expect(await list('&agentId=shop-1')).toMatchObject({ total: 7 });
  expect(idsOf(await list('&minDuration=70&maxDuration=90'))).toEqual([open[1], open[2]]);
  expect(await list('&startTime=2100-01-01T00:00:00Z')).toMatchObject({ total: 0, traces: [] });
  const rows = await database.query('select from tracer.open_trace');
  expect(rows).toHaveLength(isAlone() ? 0 : 10);
  const found = await tracer.call('GET', '/api/traces?service=shop-1&lookback=1h');
  expect(found.body.data).toHaveLength(7);
});

test('a trace that comes again after days is listed and counted once before it is complete', async () => {
  const traceId = newTraceId();
  const root = { traceId, spanId: rootId, from: 0, to: 9, name: 'days' };
  {
    await using before = await startTracer({ database });
    await before.send(exportOf('shop', [root]));
    await before.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  }
  await preparePartitions(database, Date.now() - 3 * 86_400_000);
  await database.query('update tracer.trace set day = day - 3');
  await using after = await startTracer({ database, environment: never });
  const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2, name: 'late' };
  await after.send(exportOf('shop', [child]));
  const { body } = await after.call('GET', '/api/v1/traces?name=days');
  expect(body).toMatchObject({ total: 1, traces: [{ traceId, spans: 2, isComplete: false }] });
  expect((await after.call('GET', '/api/v1/traces?name=late')).body.total).toBe(0);
});

test('while traces are completed, each that was acknowledged is listed exactly once', async () => {
  await using tracer = await startTracer({ database });
  const acknowledged: string[] = [];
  const state = { isSending: true };
  const look = async () => {
    let lists = 0;
    for (; state.isSending; lists += 1) {
      const before = [...acknowledged];
      const { body } = await tracer.call('GET', '/api/v1/traces?name=steady&limit=1000');
      const ids = idsOf(body);
      expect(new Set(ids).size).toBe(ids.length);
      // Where others write too, what is counted may be newer than what is listed.
      if (isAlone()) expect(body.total).toBe(ids.length);
      expect(before.filter((id) => !ids.includes(id))).toEqual([]);
    }
    return lists;
  };
  const send = async () => {
    for (let sent = 0; sent < 60; sent += 1) {
      acknowledged.push(...(await sendRoots(tracer, 'steady', 1)));
      if (sent % 3 === 0) continue;
      // One that is complete or about to be is open again.
      const traceId = acknowledged[Math.floor(sent / 2)] ?? '';
      const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
      await tracer.send(exportOf('shop-0', [child]));
    }
    state.isSending = false;
  };
  const [, ...lists] = await Promise.all([send(), look(), look()]);
  expect(Math.min(...lists)).toBeGreaterThan(5);
});
