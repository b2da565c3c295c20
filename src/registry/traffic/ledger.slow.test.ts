import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { TrafficLedger } from './ledger.ts';
import type { TrafficSql } from './traffic-store.ts';

let sql: Database;
let bus: Bus;
let nowMs = 0;

beforeAll(async () => {
  sql = await openTestTables('registry', new URL('../migrations/', import.meta.url));
});

afterAll(() => sql[Symbol.asyncDispose]());

beforeEach(async () => {
  await sql.query('truncate registry.traffic');
  bus = await openBus({ log: silentLog });
  nowMs = 1_800_000_000_000;
  return () => bus[Symbol.asyncDispose]();
});

/** A ledger whose clock the test turns, and which writes only when it is told to. */
async function openLedger(database: TrafficSql = sql): Promise<TrafficLedger> {
  const now = () => nowMs;
  const options = { sql: database, bus, log: silentLog, now, flushMs: 3_600_000 };
  const ledger = new TrafficLedger(options);
  await ledger.start();
  return ledger;
}

function run(ledger: TrafficLedger, latencyMs: number, isError = false): void {
  const request = ledger.begin('con_a', 'echo');
  nowMs += latencyMs;
  request.end(isError ? 'error' : 'success');
}

test('a connection without requests has figures of 0', async () => {
  await using ledger = await openLedger();
  expect(ledger.figures('con_nobody')).toEqual({
    activeRequests: 0,
    requestsPerMinute: 0,
    totalRequests: 0,
    failedRequests: 0,
    inconclusiveRequests: 0,
    averageLatency: 0,
    p95Latency: 0,
  });
  expect(ledger.overall()).toEqual({ requestsPerSecond: 0, averageLatency: 0, errorRate: 0 });
});

test('a request that ends twice counts once', async () => {
  await using ledger = await openLedger();
  const request = ledger.begin('con_a', 'echo');
  expect(ledger.figures('con_a').activeRequests).toBe(1);
  request.end('error');
  request.end('success');
  expect(ledger.figures('con_a')).toMatchObject({
    activeRequests: 0,
    totalRequests: 1,
    failedRequests: 1,
  });
});

test('figures are what was measured', async () => {
  await using ledger = await openLedger();
  for (let at = 0; at < 99; at += 1) run(ledger, 10);
  run(ledger, 1_000, true);
  const figures = ledger.figures('con_a');
  expect(figures).toMatchObject({
    requestsPerMinute: 100,
    totalRequests: 100,
    failedRequests: 1,
    averageLatency: 19.9,
  });
  expect(figures.p95Latency).toBeGreaterThan(9.5);
  expect(figures.p95Latency).toBeLessThan(10.5);
  expect(ledger.overall()).toMatchObject({ averageLatency: 19.9, errorRate: 0.01 });
  expect(ledger.ofCapability('echo')).toEqual({ totalRequests: 100, averageLatency: 19.9 });
  nowMs += 61_000;
  expect(ledger.figures('con_a')).toMatchObject({ requestsPerMinute: 0, totalRequests: 100 });
});

test('sums survive a restart', async () => {
  const first = await openLedger();
  run(first, 10);
  await first.flush();
  run(first, 30, true);
  const { averageLatency, p95Latency } = first.figures('con_a');
  await first[Symbol.asyncDispose]();
  await using second = await openLedger();
  expect(second.figures('con_a')).toEqual({
    activeRequests: 0,
    requestsPerMinute: 0,
    totalRequests: 2,
    failedRequests: 1,
    inconclusiveRequests: 0,
    averageLatency,
    p95Latency,
  });
  expect(second.overall()).toMatchObject({ averageLatency: 20, errorRate: 0.5 });
  expect(second.ofCapability('echo').totalRequests).toBe(2);
});

test('what was refused or given up is neither success nor failure, after a restart too', async () => {
  const first = await openLedger();
  run(first, 10);
  for (const outcome of ['refused', 'cancelled'] as const) {
    first.begin('con_a', 'echo').end(outcome);
    await first.flush();
  }
  const counted = { totalRequests: 3, failedRequests: 0, inconclusiveRequests: 2 };
  expect(first.figures('con_a')).toMatchObject(counted);
  expect(first.overall()).toMatchObject({ errorRate: 0 });
  await first[Symbol.asyncDispose]();
  await using second = await openLedger();
  expect(second.figures('con_a')).toMatchObject(counted);
});

test('replicas add up, each request once, and tell each other what runs', async () => {
  await using one = await openLedger();
  await using other = await openLedger();
  run(one, 10);
  run(other, 30);
  const running = one.begin('con_a', 'echo');
  await one.flush();
  await other.flush();
  await one.flush();
  for (const ledger of [one, other]) {
    expect(ledger.figures('con_a')).toMatchObject({
      activeRequests: 1,
      requestsPerMinute: 2,
      totalRequests: 2,
      averageLatency: 20,
    });
    expect(ledger.ofCapability('echo').totalRequests).toBe(2);
    expect(ledger.overall().averageLatency).toBe(20);
  }
  running.end('success');
  await one.flush();
  expect(other.figures('con_a')).toMatchObject({ activeRequests: 0, totalRequests: 3 });
});

test('what runs at a replica that fell silent is forgotten', async () => {
  await using one = await openLedger();
  await using other = await openLedger();
  one.begin('con_a', 'echo');
  await one.flush();
  expect(other.figures('con_a').activeRequests).toBe(1);
  nowMs += 10_001;
  await other.flush();
  expect(other.figures('con_a').activeRequests).toBe(0);
});

test('what the database does not take is written later, once', async () => {
  let isAway = true;
  const flaky: TrafficSql = {
    query: (text, parameters) =>
      isAway && text.startsWith('insert')
        ? Promise.reject(new Error('the database is away'))
        : sql.query(text, parameters),
  };
  await using ledger = await openLedger(flaky);
  run(ledger, 10);
  await ledger.flush();
  run(ledger, 20);
  expect(ledger.figures('con_a').totalRequests).toBe(2);
  isAway = false;
  await ledger.flush();
  await ledger.flush();
  expect(ledger.figures('con_a')).toMatchObject({ totalRequests: 2, averageLatency: 15 });
  const rows = await sql.query('select requests from registry.traffic order by capability');
  expect(rows).toEqual([{ requests: 2 }, { requests: 2 }]);
});

test('a name that no table can hold counts for its connection only', async () => {
  await using ledger = await openLedger();
  for (const name of ['a\u0000b', '\ud800', 'x'.repeat(257), '']) {
    ledger.begin('con_a', name).end('success');
  }
  await ledger.flush();
  expect(ledger.figures('con_a').totalRequests).toBe(4);
  expect(await sql.query('select 1 as one from registry.traffic')).toHaveLength(1);
});

test('who judges connections hears of each end', async () => {
  await using ledger = await openLedger();
  const heard: string[] = [];
  const stop = ledger.onEnd((id, outcome) => heard.push(`${id} ${outcome}`));
  run(ledger, 1, true);
  stop();
  run(ledger, 1);
  expect(heard).toEqual(['con_a error']);
});

test('the latency of a failure makes no server look quick', async () => {
  await using ledger = await openLedger();
  run(ledger, 100);
  run(ledger, 1, true);
  expect(ledger.meterOf('con_a').latencyMs(nowMs)).toBeCloseTo(100, 0);
  expect(ledger.meterOf('con_a').latencyMs(nowMs + 30_000)).toBeCloseTo(50, 0);
});
