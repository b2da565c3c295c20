import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { silentLog } from '../../kit/testing.ts';
import { aggregate } from '../metrics/aggregation.ts';
import { Deltas } from './deltas.ts';
import { readDependencies } from '../metrics/dependencies.ts';
import { foldLog } from './fold.ts';
import { distributeErrors } from '../metrics/error-types.ts';
import { readBaselines, readWindows } from '../metrics/history.ts';
import { neededPartitions, partitionedTables, partitionName } from './partitions.ts';
import { Retention } from './retention.ts';
import { applyAdditions } from './series-store.ts';
import type { Sample } from './series.ts';
import {
  addSamples,
  duration,
  openTracerDatabase,
  preparePartitions,
  runParts,
} from './testing.ts';
import { CellMetrics } from '../alerts/cell-metrics.ts';
import { readUsage } from '../metrics/usage.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs);
});

beforeEach(async () => {
  const tables = [
    'series',
    'cell_log',
    'block_minute',
    'block_hour',
    'block_day',
    'error_log',
    'trace',
  ];
  await database.query(`truncate ${tables.map((table) => `tracer.${table}`).join(', ')}`);
});

afterAll(() => database[Symbol.asyncDispose]());

/** Adds to what was added before, which lies in blocks then. */
const add = async (samples: readonly Sample[], sign: 1 | -1 = 1) => {
  await fold();
  await addSamples(database, samples, { nowMs, sign });
};
const fold = async () => {
  while (await foldLog(database, nowMs));
};
const named = (name: string, us: number, atMs = nowMs) =>
  duration('traceName', [name], { atMs, us });
const byOperation = (timeRange: '1h' | '24h' | '7d' | '30d') =>
  aggregate(database, { timeRange, groupBy: 'operation', metric: 'throughput', limit: 100 }, nowMs);

/** A spread as latencies have it. */
function latencies(count: number): number[] {
  return Array.from({ length: count }, (_, at) =>
    Math.round(500 * 1.004 ** ((at * 7_919) % 2_000)),
  );
}

test('a range without traces has no group, no error and no division by zero', async () => {
  expect((await byOperation('24h')).aggregations).toEqual([]);
  const errors = await distributeErrors(database, '24h', nowMs);
  expect(errors).toMatchObject({
    totalErrors: 0,
    errorRate: 0,
    errorsByType: [],
    recommendations: [],
  });
  expect(await readDependencies(database, '7d', nowMs)).toMatchObject({ nodes: [], edges: [] });
  const usage = await readUsage(database, { timeRange: '30d', groupBy: 'model' }, nowMs);
  expect(usage).toMatchObject({ usage: [], totals: { calls: 0, costUsd: 0 } });
  expect(await readBaselines(database, nowMs)).toEqual(new Map());
  const window = await new CellMetrics({ sql: database, now: () => nowMs }).window({
    fromUs: 0,
    toUs: nowMs * 1_000,
  });
  expect(window).toMatchObject({ count: 0, errors: 0, sumUs: 0 });
});

test('a trace that is taken back leaves nothing to see, at any level', async () => {
  await add([named('a', 1_000), named('a', 9_000_000), named('b', 5)]);
  await add([named('a', 9_000_000), named('b', 5)], -1);
  for (const range of ['1h', '24h', '7d', '30d'] as const) {
    const { aggregations } = await byOperation(range);
    expect(aggregations).toMatchObject([
      { key: 'a', metrics: { totalRequests: 1, p99Duration: expect.closeTo(1, 1) } },
    ]);
  }
});

test('replicas that add to the same cells at once, and fold them, lose nothing', async () => {
  const rounds = Array.from({ length: 12 }, (_, at) =>
    add([named('a', 100 + at), named('b', 200), named(`c${at}`, 7)]),
  );
  await Promise.all(rounds);
  await Promise.all([fold(), fold(), fold()]);
  const { aggregations } = await byOperation('24h');
  expect(aggregations).toHaveLength(14);
  expect(aggregations.slice(0, 2).map(({ metrics }) => metrics.totalRequests)).toEqual([12, 12]);
});

test('percentiles are within 1 % of the exact ones at every level, however cells were added to', async () => {
  const all = latencies(2_000);
  for (let at = 0; at < all.length; at += 100) {
    const part = all.slice(at, at + 100);
    await add(part.map((us, index) => named('a', us, nowMs - (index % 25) * 60_000)));
  }
  const sorted = all.toSorted((one, other) => one - other);
  for (const range of ['1h', '24h', '7d', '30d'] as const) {
    const { aggregations } = await byOperation(range);
    const { metrics } = aggregations[0]!;
    expect(metrics.totalRequests).toBe(2_000);
    for (const [q, found] of [
      [0.5, metrics.p50Duration],
      [0.95, metrics.p95Duration],
      [0.99, metrics.p99Duration],
    ] as const) {
      const exact = sorted[Math.ceil(q * 2_000) - 1]! / 1_000;
      // Whole milliseconds are told.
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.0101 + 0.5);
    }
  }
});

test('a range takes what lies in it to the minute, over cells of several widths', async () => {
  const ages = [
    0, 1, 29, 30, 31, 59, 60, 61, 90, 1_439, 1_440, 1_441, 10_000, 10_079, 10_080, 43_170, 43_171,
  ];
  await add(ages.map((minutes) => named('a', 1_000, nowMs - minutes * 60_000)));
  const counted = async (range: '1h' | '24h' | '7d' | '30d') => {
    const { startTime, aggregations } = await byOperation(range);
    const { totalRequests, throughput } = aggregations[0]!.metrics;
    const seconds = (nowMs - Date.parse(startTime)) / 1_000;
    expect(throughput).toBeCloseTo(totalRequests / seconds, 6);
    return [startTime, totalRequests];
  };
  expect(await counted('1h')).toEqual(['2026-11-21T09:31:00.000Z', 6]);
  expect(await counted('24h')).toEqual(['2026-11-20T10:31:00.000Z', 10]);
  expect(await counted('7d')).toEqual(['2026-11-14T10:31:00.000Z', 14]);
  // Of a month ago there are whole hours only.
  const ofMonth = ['2026-10-22T11:00:00.000Z', 16];
  expect(await counted('30d')).toEqual(ofMonth);
  await fold();
  const inBlocks = await Promise.all([
    counted('1h'),
    counted('24h'),
    counted('7d'),
    counted('30d'),
  ]);
  expect(inBlocks.map(([, count]) => count)).toEqual([6, 10, 14, 16]);
});

test('times of less than a millisecond are told as they are', async () => {
  await add(Array.from({ length: 99 }, (_, at) => named('a', 101 + at)));
  const { averageDuration, p50Duration } = (await byOperation('1h')).aggregations[0]!.metrics;
  expect([averageDuration, Math.abs(p50Duration - 0.15) <= 0.0016]).toEqual([0.15, true]);
});

test('groups come by what was asked for', async () => {
  await add([
    ...Array.from({ length: 3 }, () => named('often', 10_000)),
    duration('traceName', ['failing'], { atMs: nowMs, us: 20_000, isError: true }),
    named('failing', 20_000),
    named('slow', 5_000_000),
  ]);
  const keys = async (metric: 'duration' | 'throughput' | 'errors') => {
    const query = { timeRange: '1h', groupBy: 'operation', metric, limit: 2 } as const;
    return (await aggregate(database, query, nowMs)).aggregations.map(({ key }) => key);
  };
  expect(await keys('duration')).toEqual(['slow', 'failing']);
  expect(await keys('throughput')).toEqual(['often', 'failing']);
  expect((await keys('errors'))[0]).toBe('failing');
  const { aggregations } = await byOperation('1h');
  const one = { timeRange: '1h', groupBy: 'operation', metric: 'errors', limit: 1 } as const;
  expect((await aggregate(database, one, nowMs)).total).toBe(aggregations.length);
  const failing = aggregations.find(({ key }) => key === 'failing')!;
  expect(failing.metrics).toMatchObject({
    successRate: 0.5,
    errorRate: 0.5,
    averageDuration: 20,
    throughput: expect.closeTo(2 / 3_600, 4),
  });
});

test('errors are told by type with their share, their agents and what to do', async () => {
  const failed = (code: string, agent: string): Sample => ({
    ...duration('error', [code, agent], { atMs: nowMs, us: 0, isError: true }),
    isDuration: false,
  });
  await add([
    ...Array.from({ length: 3 }, () => failed('MODEL_TIMEOUT', 'writer')),
    failed('MODEL_TIMEOUT', 'planner'),
    failed('ODD', 'planner'),
    ...Array.from({ length: 10 }, (_, at) =>
      duration('traceStatus', [at < 5 ? 'error' : 'success'], {
        atMs: nowMs,
        us: 1,
        isError: at < 5,
      }),
    ),
  ]);
  const found = await distributeErrors(database, '24h', nowMs);
  expect(found).toMatchObject({ timeRange: '24h', totalErrors: 5, errorRate: 0.5 });
  expect(found.errorsByType).toEqual([
    { errorCode: 'MODEL_TIMEOUT', count: 4, percentage: 80, affectedAgents: ['writer', 'planner'] },
    { errorCode: 'ODD', count: 1, percentage: 20, affectedAgents: ['planner'] },
  ]);
  expect(found.recommendations.join('\n')).toMatch(/50 %[^]*MODEL_TIMEOUT[^]*more time[^]*ODD/);
});

test('every edge of the dependency graph has both its nodes, apart from names that services share', async () => {
  const edge = (labels: string[], us: number, isError = false) =>
    duration('edge', labels, { atMs: nowMs, us, isError });
  const handled = duration('service', ['redis', 'service'], { atMs: nowMs, us: 5, isError: true });
  await add([
    { ...handled, isDuration: false },
    edge(['web', 'redis', 'service'], 4_000),
    edge(['web', 'redis', 'service'], 8_000, true),
    edge(['web', 'redis', 'database'], 2_000),
  ]);
  const { nodes, edges } = await readDependencies(database, '1h', nowMs);
  expect(edges[0]).toEqual({
    from: 'web',
    to: 'redis',
    requests: 2,
    averageLatency: 6,
    p95Latency: expect.closeTo(8, 1),
    errorRate: 0.5,
  });
  const ids = nodes.map(({ serviceId }) => serviceId);
  expect(ids.toSorted()).toEqual(['database:redis', 'redis', 'web']);
  expect(nodes[0]).toMatchObject({ serviceId: 'redis', requestsHandled: 1, errorRate: 1 });
});

test('tokens and money add up by agent, provider and model, and say how many calls have a price', async () => {
  const call = (labels: string[], tokens: number, cost?: number): Sample[] => {
    const facts = { atUs: nowMs * 1_000, isError: false, isDuration: false };
    const priced =
      cost === undefined ? [] : [{ kind: 'cost', labels, amount: cost, ...facts } as const];
    return [
      { kind: 'inputTokens', labels, amount: tokens, ...facts },
      { kind: 'outputTokens', labels, amount: tokens / 2, ...facts },
      ...priced,
    ];
  };
  await add([
    ...call(['a', 'openai', 'gpt-4o'], 100, 2_500.5),
    ...call(['b', 'openai', 'gpt-4o'], 100, 2_500),
    ...call(['b', 'local', 'tiny'], 900),
  ]);
  const usage = await readUsage(database, { timeRange: '24h', groupBy: 'agent' }, nowMs);
  expect(usage.usage).toMatchObject([
    { key: 'a', calls: 1, inputTokens: 100, costUsd: 0.002501, pricedCalls: 1 },
    { key: 'b', calls: 2, inputTokens: 1_000, outputTokens: 500, costUsd: 0.0025, pricedCalls: 1 },
  ]);
  expect(usage.totals).toMatchObject({ calls: 3, inputTokens: 1_100, pricedCalls: 2 });
});

test('an operation has a history from thirty spans on, of a day or else of a week', async () => {
  const spans = (name: string, count: number, atMs: number) =>
    Array.from({ length: count }, (_, at) =>
      (['operation', 'self'] as const).map((kind) =>
        duration(kind, ['svc', name, 'server'], { atMs, us: kind === 'self' ? 10 : 100 + at }),
      ),
    ).flat();
  await add([
    ...spans('rare', 29, nowMs),
    ...spans('daily', 30, nowMs - hourMs),
    ...spans('weekly', 39, nowMs - 4 * dayMs),
    ...spans('weekly', 1, nowMs - 5 * hourMs),
  ]);
  const operation = (name: string) => ({ service: 'svc', name, kind: 2 });
  const all = await readBaselines(database, nowMs);
  expect([...all.values()].map(({ duration: { count } }) => count)).toEqual([30, 40]);
  const asked = [operation('weekly'), operation('rare'), operation('unknown')];
  const some = [...(await readBaselines(database, nowMs, asked)).values()];
  expect(some).toHaveLength(1);
  const [{ duration: durations, self }] = some as [(typeof some)[0]];
  expect(Math.abs(durations.p50Us - 118)).toBeLessThan(1.2);
  expect(durations.p25Us).toBeLessThan(durations.p75Us);
  expect(Math.abs(self.p50Us - 10)).toBeLessThan(0.2);
  const { operations } = await readWindows(
    database,
    { fromUs: (nowMs - 2 * hourMs) * 1_000, toUs: nowMs * 1_000 },
    nowMs,
  );
  expect(operations.map(({ name, count, selfSumUs }) => [name, count, selfSumUs])).toEqual([
    ['daily', 30, 300],
    ['rare', 29, 290],
  ]);
});

test.each([
  // What was asked for, what is counted instead, and how many of one span a minute that is.
  ['11-21T10:12:10/11-21T10:12:20', '11-21T10:12:00/11-21T10:13:00', 1],
  ['11-21T10:12:30/11-21T10:22:30', '11-21T10:12:00/11-21T10:23:00', 11],
  ['11-21T10:30:05/11-21T10:30:10', '11-21T10:30:00/11-21T10:30:20', 1],
  ['11-21T10:00:30/11-21T10:30:40', '11-21T10:00:00/11-21T10:30:40', 31],
  ['11-11T10:20:00/11-11T10:30:00', '11-11T10:00:00/11-11T11:00:00', 60],
  ['10-01T10:20:00/10-01T10:30:00', '10-01T00:00:00/10-02T00:00:00', 60],
  ['01-01T00:00:00/10-01T10:30:00', '08-24T00:00:00/10-02T00:00:00', 60],
  ['01-01T00:00:00/01-01T10:30:00', '01-01T00:00:00/01-01T10:30:00', 0],
])('the range %s is counted, and told of, as %s', async (asked, counted, spans) => {
  const days = ['2026-10-01T10:00:10Z', '2026-11-11T10:00:10Z', '2026-11-21T10:00:10Z'];
  const all = days.flatMap((start) =>
    Array.from({ length: start.includes('11-21') ? 31 : 60 }, (_, minute) => {
      const facts = { atMs: Date.parse(start) + minute * 60_000, us: 100 };
      return duration('operation', ['svc', 'op', 'server'], facts);
    }),
  );
  await add(all);
  const [fromUs = 0, toUs = 0] = asked.split('/').map((at) => Date.parse(`2026-${at}Z`) * 1_000);
  const { range, operations } = await readWindows(database, { fromUs, toUs }, nowMs);
  const told = [range.fromUs, range.toUs].map((us) => new Date(us / 1_000).toISOString());
  expect(told.map((time) => time.slice(5, 19)).join('/')).toBe(counted);
  expect(operations[0]?.count ?? 0).toBe(spans);
});

test('alerts see all traces, those of an agent, of a name, and in steps', async () => {
  const both = (name: string, agent: string, minutes: number, us: number): Sample[] => {
    const facts = { atMs: nowMs - minutes * 60_000, us, isError: us > 1_000 };
    return [
      duration('traceName', [name], facts),
      duration('traceAgent', [agent], facts),
      duration('traceStatus', [us > 1_000 ? 'error' : 'success'], facts),
    ];
  };
  await add([...both('n', 'a', 0, 100), ...both('n', 'b', 3, 9_000), ...both('m', 'a', 200, 500)]);
  const metrics = new CellMetrics({ sql: database, now: () => nowMs });
  const range = { fromUs: (nowMs - 5 * 60_000) * 1_000, toUs: nowMs * 1_000 };
  const five = await metrics.window(range);
  expect(five).toMatchObject({ count: 2, errors: 1, sumUs: 9_100 });
  expect(Math.abs(five.quantileUs(1) - 9_000)).toBeLessThan(91);
  expect(await metrics.window({ ...range, agent: 'a' })).toMatchObject({ count: 1, errors: 0 });
  expect(await metrics.window({ ...range, operation: 'm' })).toMatchObject({ count: 0 });
  const wide = { ...range, fromUs: (nowMs - 5 * hourMs) * 1_000 };
  expect(await metrics.window({ ...wide, operation: 'm' })).toMatchObject({ count: 1, sumUs: 500 });
  const steps = await metrics.series({ ...wide, stepMinutes: 10 });
  expect(steps.map(({ startUs, count }) => [(nowMs * 1_000 - startUs) / 6e7, count])).toEqual([
    [expect.closeTo(200.33, 1), 1],
    [expect.closeTo(10.33, 1), 1],
    [expect.closeTo(0.33, 1), 1],
  ]);
  expect(steps[1]!.binCounts).toEqual([1]);
});

test('traces of an agent and a name together are found one by one, and serve as examples', async () => {
  const trace = (
    id: string,
    facts: { name: string; agent: string; us: number; status: number },
  ) => {
    const { name, agent, us, status } = facts;
    const startUs = (nowMs - 60_000) * 1_000 + Number(id);
    return database.query(
      `insert into tracer.trace (trace_id, day, start_us, end_us, received_at, terms, network_us,
         processing_us, span_count, error_count, bottlenecks, completions, status, is_partial, name,
         service, agent, agents, chunks)
       values ($1, $2, $3, $4, 0, '{}', 0, 0, 1, 0, 0, 1, $5, false, $6, 's', $7, '{}', '{}')`,
      [id.repeat(32), Math.floor(nowMs / dayMs), startUs, startUs + us, status, name, agent],
    );
  };
  await trace('1', { name: 'n', agent: 'a', us: 2_000, status: 0 });
  await trace('2', { name: 'n', agent: 'a', us: 40_000, status: 2 });
  await trace('3', { name: 'n', agent: 'b', us: 90_000, status: 1 });
  await trace('4', { name: 'm', agent: 'a', us: 0, status: 0 });
  const metrics = new CellMetrics({ sql: database, now: () => nowMs });
  const range = { fromUs: (nowMs - 5 * 60_000) * 1_000, toUs: nowMs * 1_000, agent: 'a' };
  const found = await metrics.window({ ...range, operation: 'n' });
  expect(found).toMatchObject({ count: 2, errors: 1, sumUs: 42_000 });
  expect(Math.abs(found.quantileUs(0.99) - 40_000)).toBeLessThan(400);
  expect((await metrics.window({ ...range, operation: 'm' })).quantileUs(0.5)).toBe(0);
  const steps = await metrics.series({ ...range, operation: 'n', stepMinutes: 1 });
  expect(steps).toMatchObject([{ count: 2, binCounts: [1, 1] }]);
  const ids = async (order: 'failed' | 'slowest' | 'latest') =>
    (await metrics.examples({ ...range, order, limit: 2 })).map(([first]) => first);
  expect(await ids('failed')).toEqual(['2']);
  expect(await ids('slowest')).toEqual(['2', '1']);
  expect(await ids('latest')).toEqual(['4', '2']);
});

async function partitions(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits i join pg_class c on c.oid = i.inhparent
     where c.relkind = 'p'`,
  );
  return rows.map(({ name }) => name.replace('tracer.', '')).toSorted();
}

test('partitions are made ahead and dropped once wholly past what they keep, also by replicas at once', async () => {
  const later = nowMs + 130 * dayMs;
  await add([named('old', 5), named('kept', 5)]);
  await fold();
  await Promise.all([1, 2, 3].map(() => preparePartitions(database, nowMs + dayMs)));
  await Promise.all([1, 2, 3].map(() => preparePartitions(database, later)));
  const expected = partitionedTables.flatMap((table) =>
    neededPartitions(table, later).map((day) => partitionName(table, day)),
  );
  expect(expected.every((name) => !name.endsWith('NaN'))).toBe(true);
  const found = await partitions();
  expect(expected.filter((name) => !found.includes(name))).toEqual([]);
  // The hours of grace and the partition that is only partly over stay.
  expect(found.length - expected.length).toBeLessThanOrEqual(partitionedTables.length);
  expect(await database.query('select * from tracer.series')).toEqual([]);
  await preparePartitions(database, nowMs);
});

test('what is a day old or a day ahead has its partition when the clock moves on', async () => {
  const clock = { nowMs };
  await using retention = await Retention.open({
    sql: database,
    log: silentLog,
    nowMs: () => clock.nowMs,
  });
  for (let at = 0; at < 12; at += 1) {
    clock.nowMs += 20 * hourMs;
    await retention.run();
    const deltas = new Deltas({ nowUs: () => clock.nowMs * 1_000 });
    const around = [-7 * 24 + 1, -24, 0, 23].map((hours) => clock.nowMs + hours * hourMs);
    deltas.add(
      around.map((atMs) => named('a', 5, atMs)),
      1,
    );
    await runParts(database, applyAdditions(deltas.drain(), 1));
    expect(await foldLog(database, clock.nowMs)).toBe(false);
    expect(await database.query('select from tracer.cell_log')).toEqual([]);
  }
});
