import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { listErrors, logErrors, type ErrorEntry } from './error-log-store.ts';
import { openTracerDatabase, preparePartitions, runParts } from './testing.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs);
});

beforeEach(() => database.query('truncate tracer.error_log'));

afterAll(() => database[Symbol.asyncDispose]());

const entry = (fields: Partial<ErrorEntry> = {}): ErrorEntry => ({
  atMs: nowMs - 1_000,
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  code: 'MODEL_TIMEOUT',
  message: 'the model said nothing',
  agent: 'writer',
  name: 'POST /chat',
  service: 'gateway',
  ...fields,
});

test('the error log takes hostile texts, no entry twice, and none that is older than it is kept', async () => {
  const hostile = entry({ message: `a\0b\ud800${'x'.repeat(10_000)}`, code: '\0' });
  const old = entry({ atMs: nowMs - 31 * dayMs, traceId: 'c'.repeat(32) });
  const ahead = entry({ atMs: nowMs + 3 * dayMs, traceId: 'd'.repeat(32) });
  await runParts(database, logErrors([hostile, hostile, old, ahead], 1, nowMs));
  await runParts(database, logErrors([entry({ message: 'again' })], 1, nowMs));
  expect(logErrors([old], 1, nowMs).ctes).toEqual([]);
  const range = { fromMs: 0, toMs: nowMs, limit: 10, offset: 0 };
  const all = await listErrors(database, { ...range, code: undefined, agent: undefined });
  expect(all).toEqual({ errors: [entry({ message: 'again' })], total: 1 });
});

test('the error log is listed by code and agent, in pages, the latest first', async () => {
  const entries = Array.from({ length: 5 }, (_, at) =>
    entry({
      traceId: `${at}`.repeat(32),
      atMs: nowMs - at * 60_000 - 1_000,
      agent: at === 3 ? 'planner' : 'writer',
    }),
  );
  await runParts(database, logErrors(entries, 1, nowMs));
  const query = { fromMs: nowMs - hourMs, toMs: nowMs, code: undefined, agent: 'writer' };
  const page = await listErrors(database, { ...query, limit: 2, offset: 1 });
  expect(page).toEqual({ errors: [entries[1], entries[2]], total: 4 });
  const none = await listErrors(database, { ...query, code: 'OTHER', limit: 2, offset: 0 });
  expect(none).toEqual({ errors: [], total: 0 });
});
