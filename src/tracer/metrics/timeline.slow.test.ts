import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { foldLog } from '../series/fold.ts';
import { addSamples, duration, openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { readTimeline, type TimelineQuery } from './timeline.ts';
import type { TimeRange } from '../series/time-range.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs);
});

beforeEach(async () => {
  const tables = ['series', 'cell_log', 'block_minute', 'block_hour', 'block_day'];
  await database.query(`truncate ${tables.map((table) => `tracer.${table}`).join(', ')}`);
});

afterAll(() => database[Symbol.asyncDispose]());

/** Adds a complete trace at a time. */
async function addTrace(atMs: number, ms: number, isError = false): Promise<void> {
  const fields = { atMs, us: ms * 1_000, isError };
  const samples = [
    duration('traceName', ['POST /chat'], fields),
    duration('traceStatus', [isError ? 'error' : 'success'], fields),
  ];
  await addSamples(database, samples, { nowMs });
}

const read = (timeRange: TimeRange, query: Partial<TimelineQuery> = {}) =>
  readTimeline(database, { groupBy: 'operation', ...query, timeRange }, nowMs);

/** Which points have traces, and how many. */
async function countsOf(timeRange: TimeRange, query?: Partial<TimelineQuery>) {
  const { points } = await read(timeRange, query);
  return points
    .filter(({ totalRequests }) => totalRequests > 0)
    .map(({ startTime, totalRequests }) => [startTime, totalRequests]);
}

test.each([
  ['1h', '2026-11-21T09:31:00.000Z', 60, 60],
  ['24h', '2026-11-20T11:00:00.000Z', 3_600, 24],
  ['7d', '2026-11-14T12:00:00.000Z', 21_600, 28],
  ['30d', '2026-10-23T00:00:00.000Z', 86_400, 30],
] as const)('%s has a point for each step from %s', async (timeRange, startTime, ...expected) => {
  const { points, stepSeconds, ...times } = await read(timeRange);
  expect(times).toEqual({ timeRange, startTime, endTime: '2026-11-21T10:30:20.000Z' });
  expect([stepSeconds, points.length]).toEqual(expected);
  expect(points[0]).toEqual({
    startTime,
    totalRequests: 0,
    successRate: 1,
    averageDuration: 0,
    p50Duration: 0,
    p95Duration: 0,
    p99Duration: 0,
    errorRate: 0,
    throughput: 0,
  });
});

test('each trace counts in the step in which it began, in blocks as in the log', async () => {
  await addTrace(nowMs - 29 * dayMs, 10);
  await addTrace(nowMs - 6 * dayMs, 10);
  await addTrace(nowMs - 90 * minuteMs, 10);
  while (await foldLog(database, nowMs));
  await addTrace(nowMs - 31 * minuteMs, 10);
  await addTrace(nowMs, 10);
  expect(await countsOf('1h')).toEqual([
    ['2026-11-21T09:59:00.000Z', 1],
    ['2026-11-21T10:30:00.000Z', 1],
  ]);
  expect(await countsOf('24h')).toEqual([
    ['2026-11-21T09:00:00.000Z', 2],
    ['2026-11-21T10:00:00.000Z', 1],
  ]);
  expect(await countsOf('7d')).toEqual([
    ['2026-11-15T06:00:00.000Z', 1],
    ['2026-11-21T06:00:00.000Z', 3],
  ]);
  expect(await countsOf('30d')).toEqual([
    ['2026-10-23T00:00:00.000Z', 1],
    ['2026-11-15T00:00:00.000Z', 1],
    ['2026-11-21T00:00:00.000Z', 3],
  ]);
});

test('a point has the percentiles of its own traces, and a rate of what is over of its step', async () => {
  for (let ms = 1; ms <= 100; ms++) await addTrace(nowMs - 10_000, ms, ms > 90);
  await addTrace(nowMs - 2 * hourMs, 5_000);
  const { points } = await read('24h');
  const last = points.at(-1);
  expect(last).toMatchObject({ totalRequests: 100, errorRate: 0.1, successRate: 0.9 });
  expect(last?.averageDuration).toBe(50.5);
  for (const [found, exact] of [
    [last?.p50Duration, 50],
    [last?.p95Duration, 95],
    [last?.p99Duration, 99],
  ] as const) {
    expect(Math.abs((found ?? 0) / exact - 1)).toBeLessThanOrEqual(0.01);
  }
  // The hour began 30 minutes and 20 seconds ago.
  expect(last?.throughput).toBeCloseTo(100 / 1_820, 5);
  expect(points.at(-3)?.p50Duration).toBeGreaterThan(4_950);
});

test('of one operation or status only its traces count', async () => {
  await addTrace(nowMs, 10);
  await addTrace(nowMs, 10, true);
  const hour = '2026-11-21T10:00:00.000Z';
  expect(await countsOf('24h', { key: 'POST /chat' })).toEqual([[hour, 2]]);
  expect(await countsOf('24h', { groupBy: 'status', key: 'error' })).toEqual([[hour, 1]]);
  expect(await countsOf('24h', { groupBy: 'agent', key: 'POST /chat' })).toEqual([]);
});
