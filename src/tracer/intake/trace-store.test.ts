import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { newTraceId } from '../testing.ts';
import { completeTraces, findForsaken, writeSpans } from './trace-store.ts';
import { completeRowColumns, type OpenRow } from './trace-rows.ts';

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, today * dayMs);
});

afterAll(() => database[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const hourUs = 3_600_000_000;
const today = 20_000;

/** A trace with a root that begins some hours after midnight. */
function rowOf(traceId: string, day: number, hour: number): OpenRow {
  return {
    trace_id: traceId,
    day,
    received_at: day * dayMs,
    start_us: (day * 24 + hour) * hourUs,
    end_us: (day * 24 + hour) * hourUs + 1,
    name: 'work',
    service: 'shop',
    agent: 'shop',
    agents: [],
    terms: [],
    status: 0,
    span_count: 1,
    error_count: 0,
    tags: null,
    is_partial: false,
    error: null,
  };
}

async function write(row: OpenRow) {
  const { day, trace_id: traceId } = row;
  const chunk = { body: new Uint8Array([1]), chunks: [{ bytes: 1, traceIds: [traceId] }] };
  const rows = JSON.stringify([{ ...row, of_chunks: [1] }]);
  const holder = '00000000-0000-0000-0000-000000000001';
  return writeSpans(database, { day, ...chunk, rows, holder });
}

async function complete(row: OpenRow): Promise<void> {
  const counts = { network_us: 0, processing_us: 0, bottlenecks: 0 };
  const known = { known_revision: 1, known_completions: 0, known_spans: 0, chunks: [] };
  const spent = { input_tokens: null, output_tokens: null, cost_usd: null };
  const columns = completeRowColumns([{ ...row, ...counts, ...spent, ...known }]);
  await write(row);
  expect(await completeTraces(database, { columns, count: 1, paidChunks: [] })).toBe(true);
}

test.each([0, 5, 7, 23])(
  'a second root %i hours after midnight is of yesterday’s trace',
  async (hour) => {
    const traceId = newTraceId();
    await complete(rowOf(traceId, today - 1, 23));
    expect(await write(rowOf(traceId, today, hour))).toEqual([
      { traceId, revision: 1, isLate: true },
    ]);
  },
);

test('a new trace after midnight is none of yesterday’s', async () => {
  await complete(rowOf(newTraceId(), today - 1, 23));
  const traceId = newTraceId();
  expect(await write(rowOf(traceId, today, 0))).toEqual([{ traceId, revision: 1, isLate: false }]);
});

test('an open trace is forsaken once nobody has added to it for so long, however old it is', async () => {
  const traceId = newTraceId();
  const row = rowOf(traceId, today, 12);
  const isForsaken = async () => {
    const after = { receivedAt: row.received_at, traceId: '0'.repeat(32) };
    const found = await findForsaken(database, { untouchedMs: 60_000, after, limit: 100 });
    return found.some((place) => place.traceId === traceId);
  };
  await write(row);
  expect(await isForsaken()).toBe(false);
  await database.query(
    `update tracer.open_trace set touched_at = touched_at - interval '61 seconds'
     where trace_id = $1::uuid`,
    [traceId],
  );
  expect(await isForsaken()).toBe(true);
  await write(row);
  expect(await isForsaken()).toBe(false);
});
