import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { listing } from './listing.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const dayMs = 86_400_000;
const hourMs = 3_600_000;

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs - 7 * dayMs);
  await preparePartitions(database, nowMs);
});

afterAll(() => database[Symbol.asyncDispose]());

/** Stores complete traces that came at a time, as intake does. */
async function store(name: string, count: number, receivedAtMs: number): Promise<void> {
  const day = Math.floor(receivedAtMs / dayMs);
  await database.query(
    `insert into tracer.trace (trace_id, day, start_us, end_us, received_at, network_us,
       processing_us, span_count, error_count, bottlenecks, completions, status, is_partial,
       name, service, agent, agents, terms, chunks)
     select gen_random_uuid(), $1::integer, $2::bigint * 1000 + n, $2::bigint * 1000 + n + 500,
       $2::bigint, 0, 500, 1, 0, 0, 1, 0, false, $3::text, 'shop', '', '{}', '{}', '{}'
     from generate_series(1, $4::integer) as n`,
    [day, receivedAtMs, name, count],
  );
  await database.query(
    `insert into tracer.day_total as t (day, traces, spans) values ($1, $2, $2)
     on conflict (day) do update set traces = t.traces + excluded.traces, spans = t.spans + excluded.spans`,
    [day, count],
  );
}

test('all traces together are counted to the last one, and what is past its time is not', async () => {
  await store('past', 3, nowMs - 7 * dayMs - hourMs);
  await store('oldest', 4, nowMs - 7 * dayMs + hourMs);
  await store('crowd', 10_050, nowMs - hourMs);
  const all = await listing(database, {}, nowMs);
  expect(all).toMatchObject({ total: 10_054, page: 1, pageSize: 100 });
  expect(all).not.toHaveProperty('isTotalCapped');
  expect(all.traces).toHaveLength(100);
  const last = await listing(database, { offset: 10_050 }, nowMs);
  expect(last.traces.map(({ name }) => name)).toEqual(['oldest', 'oldest', 'oldest', 'oldest']);
});

test('traces that match a filter are counted up to 10,000', async () => {
  const crowd = await listing(database, { name: 'crowd' }, nowMs);
  expect(crowd).toMatchObject({ total: 10_000, isTotalCapped: true });
  const few = await listing(database, { name: 'oldest' }, nowMs);
  expect(few.total).toBe(4);
  expect(few).not.toHaveProperty('isTotalCapped');
});
