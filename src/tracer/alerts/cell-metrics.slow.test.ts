import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { openAlerts, requestOf, SetClock } from './testing.ts';

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

beforeEach(async () => {
  clock.ms = new SetClock().ms;
  await database.query(
    'truncate tracer.cell_log, tracer.block_minute, tracer.block_hour, tracer.block_day, tracer.trace, tracer.alerts cascade',
  );
});

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
    `insert into tracer.trace (trace_id, day, start_us, end_us, received_at, terms, network_us,
       processing_us, span_count, error_count, bottlenecks, completions, status, is_partial, name,
       service, agent, agents, chunks)
     values ($1::uuid, $2, $3, $4, $5, '{}', 0, 0, 1, 0, 0, 1, $6, false, $7, $8, $8, array[$8], '{}')`,
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

/** From so many minutes ago until the end of the minute that is not over. */
const rangeOf = (minutes: number, scope: { agent?: string; operation?: string } = {}) => ({
  fromUs: (clock.ms - minutes * minuteMs) * 1_000,
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

const scopes = [
  {},
  { agent: 'shop' },
  { operation: 'GET /' },
  { agent: 'shop', operation: 'GET /' },
] as const;

test.each(scopes)('a window of %j reaches back as far as it says, not further', async (scope) => {
  await store(
    { id: 1, agoMs: 0, ms: 100, isFailed: true },
    { id: 2, agoMs: 29_999, ms: 200 },
    { id: 3, agoMs: 30_001, ms: 400 },
    { id: 4, agoMs: 60_000, ms: 800, isFailed: true },
    { id: 5, agoMs: 60_001, ms: 1_600, isFailed: true },
    { id: 6, agoMs: 100_000, ms: 3_200, isFailed: true },
    { id: 7, agoMs: 20_000, ms: 9_000, agent: 'bank', name: 'POST /pay' },
    { id: 8, agoMs: 59_000, ms: 9_000, agent: 'bank', name: 'POST /pay' },
  );
  const others = 'agent' in scope || 'operation' in scope ? 0 : 1;
  expect(await valuesOf(0.5, scope)).toMatchObject({ count: 2 + others, errors: 1 });
  expect(await valuesOf(1, scope)).toMatchObject({ count: 4 + 2 * others, errors: 2 });
  expect(await valuesOf(1.5, scope)).toMatchObject({ count: 5 + 2 * others, errors: 3 });
  // Within a minute that is not over yet.
  clock.advance(20_000);
  expect(await valuesOf(0.5, scope)).toMatchObject({ count: 1, errors: 1 });
  if (others > 0) return;
  const { p50, average } = await valuesOf(1, scope);
  expect(average).toBeCloseTo((100 + 200 + 400) / 3, 6);
  expect(Math.abs((p50 ?? 0) / 200 - 1)).toBeLessThan(0.0101);
});

test('a window ends now, whatever clocks run ahead', async () => {
  await store({ id: 1, agoMs: 50 * minuteMs, ms: 10 }, { id: 2, agoMs: -20 * minuteMs, ms: 10 });
  for (const minutes of [1, 60, 24 * 60]) {
    expect(await valuesOf(minutes)).toMatchObject({ count: minutes === 1 ? 0 : 1 });
  }
});

test('names that are too long for a label are found in the minute that is cut too', async () => {
  const name = `GET /${'x'.repeat(600)}`;
  await store({ id: 1, agoMs: 59_000, ms: 10, name }, { id: 2, agoMs: 61_000, ms: 10, name });
  expect(await valuesOf(1, { operation: name })).toMatchObject({ count: 1 });
  expect(await valuesOf(1, { operation: name, agent: 'shop' })).toMatchObject({ count: 1 });
});

/** Cells alone, without the traces. */
async function storeMany(count: number, agoMs: number): Promise<void> {
  const deltas = new Deltas({ nowUs: () => clock.ms * 1_000 });
  const facts = { atUs: (clock.ms - agoMs) * 1_000, amount: 5_000, isDuration: true };
  const sample = (_: unknown, at: number) => {
    const isError = at % 4 === 0;
    const labels = [isError ? 'error' : 'success'];
    return { kind: 'traceStatus' as const, labels, isError, ...facts };
  };
  deltas.add(Array.from({ length: count }, sample), 1);
  const { ctes, parameters } = applyAdditions(deltas.drain(), 1);
  await database.query(`with ${ctes.join(', ')} select`, parameters);
}

test('of a minute with more than 10,000 traces the share of what is inside is taken', async () => {
  await storeMany(12_000, 5 * minuteMs);
  // Of that minute its last 45, 30 and 15 seconds, and all of it.
  clock.ms = thisMinute() + 55 * 1_000;
  const cut = (seconds: number) => valuesOf((5 * 60 + 55 - 60 + seconds) / 60);
  expect(await cut(45)).toMatchObject({ count: 9_000, errors: 2_250, average: 5 });
  expect(await cut(30)).toMatchObject({ count: 6_000, errors: 1_500 });
  expect(await cut(15)).toMatchObject({ count: 3_000, errors: 750 });
  expect(await cut(60)).toMatchObject({ count: 12_000, errors: 3_000 });
  expect((await cut(15)).p50).toBeCloseTo(5, 1);
});

test('of a crowded minute that is not over yet the share is of what is over', async () => {
  clock.advance(10_000);
  await storeMany(12_000, 0);
  expect(await valuesOf(0.5)).toMatchObject({ count: 9_000, errors: 2_250 });
});

test('of a minute with 10,000 traces those inside are counted', async () => {
  await storeMany(10_000, 0);
  clock.advance(15_000);
  expect(await valuesOf(0.5)).toMatchObject({ count: 0, errors: 0 });
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
    // In the minute that is not over yet, at which nothing is looked.
    { id: 2, agoMs: 0, ms: 10, isFailed: true },
  );
  const range = { fromMs: clock.ms - minutes * minuteMs, toMs: clock.ms };
  const burst = thisMinute() - 90 * minuteMs;
  const firings = [
    { firedAt: new Date(burst + minuteMs), resolvedAt: new Date(burst + 2 * minuteMs), peak: 1 },
  ];
  expect((await runDry(metrics, condition, range)).firings).toEqual(firings);
  const scoped = { ...condition, agentId: 'shop', timeWindow: '5m' };
  expect((await runDry(metrics, scoped, range)).firings).toHaveLength(1);
  const other = { ...condition, agentId: 'bank' };
  expect((await runDry(metrics, other, range)).firings).toEqual([]);
});

/** Ten minutes of uneven traffic of two agents and two names; the last before a whole minute. */
const traffic: readonly Given[] = Array.from({ length: 600 }, (_, at) => ({
  id: at + 1,
  agoMs: Math.round(600_000 * (at / 600) ** 1.5) + 1,
  ms: 1 + ((at * 37) % 100),
  agent: at % 3 === 0 ? 'bank' : 'shop',
  name: at % 2 === 0 ? 'GET /' : 'POST /pay',
  isFailed: at % 7 === 0,
}));

/** What the metrics are over a window that ended so long ago, trace by trace. */
function exactly(seconds: number, endAgoMs: number, { agent, operation }: Scope) {
  const inside = traffic.filter(
    ({ agoMs, agent: by, name }) =>
      agoMs > endAgoMs &&
      agoMs <= endAgoMs + seconds * 1_000 &&
      (agent === undefined || agent === by) &&
      (operation === undefined || operation === name),
  );
  return {
    request_rate: inside.length / seconds,
    error_count: inside.filter(({ isFailed }) => isFailed).length,
    average_duration: inside.reduce((sum, { ms }) => sum + ms, 0) / inside.length,
  };
}

interface Scope {
  readonly agent?: string;
  readonly operation?: string;
}

const metricNames = ['request_rate', 'error_count', 'average_duration'] as const;
const cases = scopes.flatMap((scope) =>
  [30, 45, 60, 90, 300, 359].map((seconds): [Scope, number] => [scope, seconds]),
);

test('an alert and its dry run look at the same traces, to the second of the window', async () => {
  clock.ms = thisMinute();
  await store(...traffic);
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-windows-'));
  await using alerts = openAlerts({ sql: database, metrics, clock, dataFolder });
  const expected = new Map<string, number>();
  for (const [scope, seconds] of cases) {
    const { agent, operation } = scope;
    const looks = [0, 1, 2].map((ago) => exactly(seconds, ago * minuteMs, scope));
    for (const metric of metricNames) {
      const always: AlertCondition = {
        metric,
        operator: 'greaterThanOrEqual',
        threshold: 0,
        timeWindow: `${seconds}s`,
        ...(agent === undefined ? {} : { agentId: agent }),
        ...(operation === undefined ? {} : { operation }),
      };
      const range = { fromMs: clock.ms - 3 * minuteMs, toMs: clock.ms + 40_000 };
      const { evaluations, firings } = await runDry(metrics, always, range);
      const [firing] = firings;
      expect({ evaluations, firings: firings.length }).toEqual({ evaluations: 3, firings: 1 });
      const most = Math.max(...looks.map((look) => look[metric]));
      expect(firing?.peak, JSON.stringify(always)).toBeCloseTo(most, 9);
      const { id } = await alerts.create(requestOf({ condition: always }), 'usr_1');
      expected.set(id, looks[0]![metric]);
    }
  }
  await alerts.evaluate();
  for (const [id, value] of expected) {
    const alert = await alerts.read(id);
    expect(alert.value, JSON.stringify(alert.condition)).toBeCloseTo(value, 9);
  }
  await rm(dataFolder, { recursive: true });
});

test('a dry run of a window below a minute says what it does not see', async () => {
  clock.ms = thisMinute() + 50_000;
  await storeMany(12_000, 50_000 + 90_000);
  await store({ id: 1, agoMs: 50_000 + 31_000, ms: 10, isFailed: true });
  const range = { fromMs: clock.ms - 10 * minuteMs, toMs: clock.ms };
  const { firings, warnings } = await runDry(metrics, { ...condition, timeWindow: '30s' }, range);
  // Half of the crowded minute, and nothing of what began the next.
  expect(firings).toEqual([
    {
      firedAt: new Date(thisMinute() - minuteMs),
      resolvedAt: new Date(thisMinute()),
      peak: 1_500,
    },
  ]);
  expect(warnings).toEqual([
    'the dry run looks at whole minutes only: of each it sees the last 30 seconds',
  ]);
  expect((await runDry(metrics, condition, range)).warnings).toEqual([]);
});
