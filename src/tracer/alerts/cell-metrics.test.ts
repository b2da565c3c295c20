import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { silentLog } from '../../kit/testing.ts';
import { Deltas } from '../series/deltas.ts';
import { Retention } from '../series/retention.ts';
import { applyAdditions } from '../series/series-store.ts';
import type { SeriesKind } from '../series/series.ts';
import { CellMetrics } from './cell-metrics.ts';
import { valueOf, type AlertCondition } from './condition.ts';
import { runDry } from './dry-run.ts';
import { openTracerDatabase } from '../series/testing.ts';
import { SetClock } from './testing.ts';

const minuteMs = 60_000;
const clock = new SetClock();
let database: Database;
let retention: Retention;
let metrics: CellMetrics;

beforeAll(async () => {
  database = await openTracerDatabase();
  retention = await Retention.open({ sql: database, log: silentLog, nowMs: clock.now });
  metrics = new CellMetrics({ sql: database, now: clock.now });
});

beforeEach(() =>
  database.query('truncate tracer.cell_minute, tracer.cell_hour, tracer.cell_day, tracer.trace'),
);

afterAll(async () => {
  await retention[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

interface Given {
  readonly id: number;
  readonly agoMs: number;
  readonly ms: number;
  readonly agent?: string;
  readonly name?: string;
  readonly isFailed?: boolean;
}

/** Stores complete traces as intake does: rows, and what they add to the series. */
async function store(...traces: Given[]): Promise<void> {
  const deltas = new Deltas({ nowUs: () => clock.ms * 1_000 });
  for (const trace of traces) {
    const { agent = 'shop', name = 'GET /', isFailed: isError = false, ms } = trace;
    const atUs = (clock.ms - trace.agoMs) * 1_000;
    const status = isError ? 'error' : 'success';
    const labels = { traceAgent: agent, traceName: name, traceStatus: status };
    const samples = Object.entries(labels).map(([kind, label]) => {
      const facts = { atUs, isError, amount: ms * 1_000, isDuration: true };
      return { kind: kind as SeriesKind, labels: [label], ...facts };
    });
    deltas.add(samples, 1);
    await storeRow(trace, { agent, name, atUs });
  }
  const { ctes, parameters } = applyAdditions(deltas.drain(), 1);
  await database.query(`with ${ctes.join(', ')} select`, parameters);
}

async function storeRow(
  { id, ms, isFailed = false }: Given,
  { agent, name, atUs }: { readonly agent: string; readonly name: string; readonly atUs: number },
): Promise<void> {
  await database.query(
    `insert into tracer.trace (trace_id, day, start_us, end_us, received_at, signature, network_us,
       processing_us, span_count, error_count, bottlenecks, completions, status, is_partial, name,
       service, agent, agents, chunks)
     values ($1::uuid, $2, $3, $4, $5, 0, 0, 0, 1, 0, 0, 1, $6, false, $7, $8, $8, array[$8], '{}')`,
    [
      hexOf(id),
      Math.floor(clock.ms / 86_400_000),
      atUs,
      atUs + ms * 1_000,
      clock.ms,
      isFailed ? 1 : 0,
      name,
      agent,
    ],
  );
}

const hexOf = (id: number) => id.toString(16).padStart(32, '0');
const thisMinute = () => Math.floor(clock.ms / minuteMs) * minuteMs;

/** The minute that is not over and those before it. */
const rangeOf = (minutes: number, scope: { agent?: string; operation?: string } = {}) => ({
  fromUs: (thisMinute() - minutes * minuteMs) * 1_000,
  toUs: (thisMinute() + minuteMs) * 1_000,
  ...scope,
});

async function valuesOf(...parameters: Parameters<typeof rangeOf>) {
  const window = await metrics.window(rangeOf(...parameters));
  const facts = { ...window, seconds: 60, quantileUs: (q: number) => window.quantileUs(q) };
  const { count, errors } = window;
  return { count, errors, p50: valueOf('p50', facts), average: valueOf('average_duration', facts) };
}

test('a window without traces is empty', async () => {
  expect(await valuesOf(5)).toEqual({ count: 0, errors: 0, p50: undefined, average: undefined });
  expect(await valuesOf(5, { agent: 'nobody' })).toMatchObject({ count: 0 });
});

test('a window counts what started in it, of all, of an agent, of an operation, of both', async () => {
  await store(
    { id: 1, agoMs: 0, ms: 100 },
    { id: 2, agoMs: 4 * minuteMs, ms: 300, isFailed: true },
    { id: 3, agoMs: 70 * minuteMs, ms: 9_000 },
    { id: 4, agoMs: 0, ms: 700, agent: 'bank' },
    { id: 5, agoMs: 0, ms: 800, agent: 'bank', name: 'POST /pay' },
  );
  expect(await valuesOf(5)).toMatchObject({ count: 4, errors: 1, average: 475 });
  expect(await valuesOf(120)).toMatchObject({ count: 5, errors: 1 });
  const shop = await valuesOf(5, { agent: 'shop' });
  expect(shop).toMatchObject({ count: 2, errors: 1, average: 200 });
  expect(await valuesOf(5, { operation: 'GET /' })).toMatchObject({ count: 3, errors: 1 });
  const bank = await valuesOf(5, { agent: 'bank', operation: 'GET /' });
  expect(bank).toMatchObject({ count: 1, errors: 0, average: 700 });
  expect(Math.abs((bank.p50 ?? 0) / 700 - 1)).toBeLessThan(0.0101);
});

test('examples are the failed, the slowest or the latest of the window', async () => {
  await store(
    { id: 1, agoMs: 3 * minuteMs, ms: 100 },
    { id: 2, agoMs: 2 * minuteMs, ms: 900 },
    { id: 3, agoMs: minuteMs, ms: 300, isFailed: true },
    { id: 4, agoMs: 0, ms: 200, agent: 'bank' },
    { id: 5, agoMs: 90 * minuteMs, ms: 9_999, isFailed: true },
  );
  const ask = (order: 'failed' | 'slowest' | 'latest', scope = {}) =>
    metrics.examples({ ...rangeOf(5, scope), order, limit: 3 });
  expect(await ask('failed')).toEqual([3].map(hexOf));
  expect(await ask('slowest')).toEqual([2, 3, 4].map(hexOf));
  expect(await ask('latest')).toEqual([4, 3, 2].map(hexOf));
  expect(await ask('latest', { agent: 'bank', operation: 'GET /' })).toEqual([4].map(hexOf));
});

const condition: AlertCondition = {
  metric: 'error_count',
  operator: 'greaterThanOrEqual',
  threshold: 1,
  timeWindow: '1m',
};

test.each([
  ['a day', 24 * 60],
  ['seven days', 7 * 24 * 60],
])('a dry run finds a burst to the minute within %s', async (_title, minutes) => {
  await store(
    { id: 1, agoMs: 90 * minuteMs, ms: 10, isFailed: true },
    { id: 2, agoMs: 0, ms: 10, isFailed: true },
  );
  const range = { fromMs: clock.ms - minutes * minuteMs, toMs: clock.ms };
  const burst = thisMinute() - 90 * minuteMs;
  const firings = [
    { firedAt: new Date(burst + minuteMs), resolvedAt: new Date(burst + 2 * minuteMs), peak: 1 },
    { firedAt: new Date(clock.ms), peak: 1 },
  ];
  expect((await runDry(metrics, condition, range)).firings).toEqual(firings);
  const scoped = { ...condition, agentId: 'shop', timeWindow: '5m' };
  expect((await runDry(metrics, scoped, range)).firings).toHaveLength(2);
  const other = { ...condition, agentId: 'bank' };
  expect((await runDry(metrics, other, range)).firings).toEqual([]);
});
