import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { nothingOpen } from '../intake/open-listing.ts';
import { listing, shownFrom, type ListSource } from './listing.ts';
import { findTrace } from './stored-trace-store.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const dayMs = 86_400_000;
const hourMs = 3_600_000;

let database: Database;
let source: ListSource;

beforeAll(async () => {
  database = await openTracerDatabase();
  source = { database, listOpen: () => Promise.resolve({ ...nothingOpen, hasRows: true }) };
  await preparePartitions(database, nowMs - 7 * dayMs);
  await preparePartitions(database, nowMs - dayMs);
  await preparePartitions(database, nowMs);
});

afterAll(() => database[Symbol.asyncDispose]());

interface Stored {
  readonly count: number;
  readonly receivedAtMs: number;
  /** 0 success, 1 error, 2 timeout. */
  readonly status?: number;
}

/** Stores complete traces that came at a time, as intake does. */
async function store(name: string, { count, receivedAtMs, status = 0 }: Stored): Promise<void> {
  const day = Math.floor(receivedAtMs / dayMs);
  await database.query(
    `insert into tracer.trace (trace_id, day, start_us, end_us, received_at, network_us,
       processing_us, span_count, error_count, bottlenecks, completions, status, is_partial,
       name, service, agent, agents, terms, chunks)
     select gen_random_uuid(), $1::integer, $2::bigint * 1000 + n, $2::bigint * 1000 + n + 500,
       $2::bigint, 0, 500, 1, 0, 0, 1, $5::integer, false, $3::text, 'shop', '', '{}', '{}', '{}'
     from generate_series(1, $4::integer) as n`,
    [day, receivedAtMs, name, count, status],
  );
  await database.query(
    `insert into tracer.day_total as t (day, traces, spans) values ($1, $2, $2)
     on conflict (day) do update set traces = t.traces + excluded.traces, spans = t.spans + excluded.spans`,
    [day, count],
  );
}

test('all traces together are counted to the last one, and what is past its time is not', async () => {
  await store('past', { count: 3, receivedAtMs: nowMs - 7 * dayMs - hourMs, status: 1 });
  await store('oldest', { count: 4, receivedAtMs: nowMs - 7 * dayMs + hourMs });
  await store('crowd', { count: 10_050, receivedAtMs: nowMs - hourMs });
  const all = await listing(source, {}, nowMs);
  expect(all).toMatchObject({ total: 10_054, page: 1, pageSize: 100 });
  expect(all).not.toHaveProperty('isTotalCapped');
  expect(all.traces).toHaveLength(100);
  const last = await listing(source, { offset: 10_050 }, nowMs);
  expect(last.traces.map(({ name }) => name)).toEqual(['oldest', 'oldest', 'oldest', 'oldest']);
});

test('a trace is found by its id for as long as it is listed', async () => {
  const idOf = async (name: string) => {
    const [row] = await database.query<{ trace_id: string }>(
      'select trace_id from tracer.trace where name = $1 limit 1',
      [name],
    );
    return row?.trace_id ?? '';
  };
  const shown = { ...shownFrom(nowMs), hasOpenRow: false };
  await expect(findTrace(database, await idOf('past'), shown)).rejects.toThrow(/is stored/);
  expect(await findTrace(database, await idOf('oldest'), shown)).toMatchObject({ revision: 1 });
});

test('traces that match a filter are counted up to 10,000', async () => {
  const crowd = await listing(source, { name: 'crowd' }, nowMs);
  expect(crowd).toMatchObject({ total: 10_000, isTotalCapped: true });
  expect(crowd.traces).toHaveLength(100);
  const beyond = await listing(source, { name: 'crowd', offset: 10_040 }, nowMs);
  expect(beyond).toMatchObject({ total: 10_000, isTotalCapped: true });
  expect(beyond.traces).toHaveLength(10);
  const few = await listing(source, { name: 'oldest' }, nowMs);
  expect(few.total).toBe(4);
  expect(few).not.toHaveProperty('isTotalCapped');
});

test('the share that failed is of all traces, however many, where nothing else is asked for', async () => {
  await store('early', { count: 100, receivedAtMs: nowMs - dayMs, status: 1 });
  await store('early', { count: 46, receivedAtMs: nowMs - dayMs, status: 2 });
  const failed = await listing(source, { status: 'error' }, nowMs);
  expect(failed).toMatchObject({ total: 100, errorRate: 146 / 10_200 });
  const named = await listing(source, { status: 'error', name: 'oldest' }, nowMs);
  expect(named).toMatchObject({ total: 0, errorRate: 0 });
});

test('errors that are not among the newest 10,000 that match are counted', async () => {
  await store('crowd', { count: 3, receivedAtMs: nowMs - dayMs, status: 1 });
  const failed = await listing(source, { status: 'error', name: 'crowd' }, nowMs);
  expect(failed).toMatchObject({ total: 3, errorRate: 0 });
  expect(failed.traces.map(({ status }) => status)).toEqual(['error', 'error', 'error']);
});

test.each([
  {},
  { status: 'error' as const },
  { name: 'crowd' },
  { name: 'crowd', status: 'error' as const, offset: 1 },
  { service: 'shop', minDuration: 0, page: 3 },
])('where no trace has an open row none is looked for, and %o is answered alike', async (query) => {
  const without = { database, listOpen: () => Promise.resolve({ ...nothingOpen, hasRows: false }) };
  const statements: string[] = [];
  const watched: Database = Object.create(database, {
    query: {
      value: (text: string, ...rest: []) => {
        statements.push(text);
        return database.query(text, ...rest);
      },
    },
  });
  const answer = await listing({ ...without, database: watched }, query, nowMs);
  expect(answer).toEqual(await listing(source, query, nowMs));
  expect(statements).not.toHaveLength(0);
  expect(statements.filter((text) => text.includes('open_trace'))).toEqual([]);
});
