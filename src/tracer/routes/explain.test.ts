import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Fault } from '../../kit/errors.ts';
import { createTestServer } from '../../kit/testing.ts';
import type { TracedOperation } from '../explain/bottlenecks-view.ts';
import { draw, idOf, storedTrace } from '../explain/testing.ts';
import { explainPairViews, explainViews } from '../explain/views.ts';
import { baselineKey, type BaselineTable } from '../intake/baseline-table.ts';
import type { StoredTrace, View } from '../reading/view.ts';
import {
  bottlenecks,
  traceComparison,
  whatIf,
  windowComparison,
} from '../schemas/explain-answers.ts';
import { explainRoutes } from '../schemas/explain.ts';
import { explainHandlers } from './explain.ts';

const contract = {
  name: 'tracer',
  title: 'Tracer',
  version: '1.0.0',
  description: 'What explains traces.',
  error: plainEnvelope.schema,
  routes: explainRoutes,
} as const satisfies Contract;

const slowId = 'a'.repeat(32);
const fastId = 'b'.repeat(32);
const absentId = 'c'.repeat(32);

const slow = [
  draw({ id: 'root', from: 0, to: 1_000 }),
  draw({ id: 'query', in: 'root', from: 100, to: 900, kind: 'client', agent: 'clerk' }),
];
const fast = [
  draw({ id: 'root', from: 0, to: 300 }),
  draw({ id: 'query', in: 'root', from: 100, to: 200, kind: 'client' }),
];
const traces = new Map<string, StoredTrace>([
  [slowId, storedTrace(slow)],
  [fastId, storedTrace(fast.map((span) => ({ ...span, traceId: fastId })))],
]);

let server: Awaited<ReturnType<typeof createTestServer>>;
const tokens = { reader: '', stranger: '' };

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(
    contract,
    explainHandlers({
      view: async (traceId, name, input) => {
        const show = explainViews[name] as View<unknown>;
        return Buffer.from(JSON.stringify(show(find(traceId), input)));
      },
      compare: async (base, other) =>
        Buffer.from(JSON.stringify(explainPairViews.compare(find(base), find(other)))),
      baselines: async (operations) => historiesOf(operations),
      windows: async ({ fromUs, toUs }) => ({
        // As if nothing finer than hours were kept.
        range: { fromUs: Math.floor(fromUs / hourUs) * hourUs, toUs },
        operations: [
          {
            service: 'shop',
            name: 'query',
            kind: 3,
            count: 1_000,
            errors: 0,
            p50Us: fromUs / 1e12,
            p95Us: fromUs / 1e12,
            sumUs: 5e8,
            selfSumUs: 5e8,
          },
        ],
      }),
    }),
  );
  tokens.reader = await server.issuer.sign({ sub: 'usr_1', permissions: ['tracer:read'] });
  tokens.stranger = await server.issuer.sign({ sub: 'usr_2', permissions: [] });
});

afterAll(() => server.http.close(0));

function find(traceId: string): StoredTrace {
  const trace = traces.get(traceId);
  if (!trace) throw new Fault('not_found', 'no such trace', { reason: 'trace_not_found' });
  return trace;
}

function historiesOf(operations: readonly TracedOperation[]): BaselineTable {
  const quartiles = { count: 50, p25Us: 90_000, p50Us: 100_000, p75Us: 110_000 };
  const query = operations.filter(({ name }) => name === 'query');
  return new Map(
    query.map((operation) => [baselineKey(operation), { duration: quartiles, self: quartiles }]),
  );
}

async function ask(url: string, payload?: unknown, who: keyof typeof tokens = 'reader') {
  const answer = await server.http.app.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url: `/api/v1/${url}`,
    headers: { authorization: `Bearer ${tokens[who]}` },
    ...(payload === undefined ? {} : { payload: payload as object }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const hourUs = 3_600_000_000;
const hour = '2026-11-21T10:00:00Z/2026-11-21T11:00:00Z';
const changes = (...list: object[]) => ({ changes: list });

test.each<[number, string, unknown?]>([
  [404, `traces/${absentId}/bottlenecks`],
  [400, 'traces/nothex/bottlenecks'],
  [404, `traces/compare?base=${slowId}&other=${absentId}`],
  [400, `traces/compare?base=${slowId}`],
  [400, `traces/compare?base=${slowId}&other=nothex`],
  [404, `traces/${absentId}/what-if`, changes({ operation: 'query', factor: 2 })],
  [400, `traces/${slowId}/what-if`, {}],
  [400, `traces/${slowId}/what-if`, changes()],
  [400, `traces/${slowId}/what-if`, changes({ factor: 2 })],
  [400, `traces/${slowId}/what-if`, changes({ operation: 'query' })],
  [400, `traces/${slowId}/what-if`, changes({ operation: 'query', factor: 0 })],
  [400, `traces/${slowId}/what-if`, changes({ operation: 'query', factor: -1 })],
  [400, `traces/${slowId}/what-if`, changes({ operation: 'query', factor: '2x' })],
  [400, `traces/${slowId}/what-if`, changes({ spanId: 'nothex', factor: 2 })],
  [400, `traces/${slowId}/what-if`, changes({ spanId: idOf('query'), service: 'x', factor: 2 })],
  [400, `traces/${slowId}/what-if`, changes({ operation: 'x', factor: 2, extent: 'half' })],
  [400, `metrics/compare?base=${hour}`],
  [400, `metrics/compare?base=${hour}&other=today`],
  [400, `metrics/compare?base=${hour}&other=2026-11-21T10:00:00/2026-11-21T11:00:00`],
  [400, `metrics/compare?base=${hour}&other=2026-13-21T10:00:00Z/2026-14-21T11:00:00Z`],
  [400, `metrics/compare?base=${hour}&other=2026-11-21T11:00:00Z/2026-11-21T10:00:00Z`],
  [400, `metrics/compare?base=${hour}&other=2026-11-21T10:00:00Z/2026-11-21T10:00:00Z`],
])('%i answers %s %j', async (status, url, payload) => {
  expect((await ask(url, payload)).status).toBe(status);
});

test.each([
  `traces/${slowId}/bottlenecks`,
  `traces/compare?base=${slowId}&other=${fastId}`,
  `metrics/compare?base=${hour}&other=${hour}`,
])('who may not read traces is refused %s', async (url) => {
  expect((await ask(url, undefined, 'stranger')).status).toBe(403);
});

test('a trace’s bottlenecks come with what is usual, what they cost and what to do', async () => {
  const { body } = await ask(`traces/${slowId.toUpperCase()}/bottlenecks`);
  expect(Value.Check(bottlenecks, body)).toBe(true);
  expect(body).toMatchObject({
    traceId: slowId,
    totalBottlenecks: 1,
    overallPerformance: 'poor',
    totalDuration: 1_000,
    shapes: [],
    isComplete: true,
  });
  expect(body.bottlenecks).toEqual([
    {
      spanId: idOf('query'),
      name: 'query',
      service: 'shop',
      agent: 'clerk',
      duration: 800,
      expectedDuration: 100,
      slowdownFactor: 8,
      basis: 'history',
      reason: 'slow',
      severity: 'critical',
      savingMs: 700,
      percentOfTrace: 80,
      onCriticalPath: true,
      recommendations: [expect.stringMatching(/^query took 800 ms, where it usually takes 100 ms/)],
    },
  ]);
});

test('a trace in which all is as usual is good', async () => {
  const { body } = await ask(`traces/${fastId}/bottlenecks`);
  expect(body).toMatchObject({ overallPerformance: 'good', totalBottlenecks: 1 });
  expect(body.bottlenecks[0]).toMatchObject({ name: 'root', reason: 'share', slowdownFactor: 1 });
});

test('a supposition answers how long the trace would have taken', async () => {
  const { status, body } = await ask(
    `traces/${slowId}/what-if`,
    changes({ spanId: idOf('query').toUpperCase(), factor: 4 }, { service: 'none', factor: 9 }),
  );
  expect(status).toBe(200);
  expect(Value.Check(whatIf, body)).toBe(true);
  expect(body).toEqual({
    traceId: slowId,
    totalDuration: 1_000,
    projectedDuration: 400,
    saving: 600,
    percentSaved: 60,
    changes: [
      { spanId: idOf('query'), factor: 4, extent: 'whole', spans: 1 },
      { service: 'none', factor: 9, extent: 'whole', spans: 0 },
    ],
    criticalPath: [
      expect.objectContaining({ name: 'root', duration: 200, projectedDuration: 200 }),
      expect.objectContaining({ name: 'query', duration: 800, projectedDuration: 200 }),
    ],
  });
});

test('two traces are compared', async () => {
  const { body } = await ask(`traces/compare?base=${slowId}&other=${fastId}`);
  expect(Value.Check(traceComparison, body)).toBe(true);
  expect(body).toMatchObject({
    base: { traceId: slowId, duration: 1_000, spans: 2 },
    other: { traceId: fastId, duration: 300 },
    difference: -700,
    explanation: { operations: [{ name: 'query', change: -700, percentOfDifference: 100 }] },
  });
});

test('two ranges of time are compared', async () => {
  const later = '2026-11-22T10:00:00.000Z/2026-11-22T12:00:00%2B01:00';
  const { status, body } = await ask(`metrics/compare?base=${hour}&other=${later}`);
  expect(status).toBe(200);
  expect(Value.Check(windowComparison, body)).toBe(true);
  expect(body).toMatchObject({
    base: { startTime: '2026-11-21T10:00:00.000Z', spans: 1_000, errorRate: 0 },
    other: { endTime: '2026-11-22T11:00:00.000Z' },
    work: { change: 0, bySpeed: 0, byVolume: 0 },
    operations: [{ name: 'query', kind: 'client', durationChange: 'insignificant' }],
    totalOperations: 1,
  });
});

test('ranges are told of, and compared, as they were counted', async () => {
  const part = '2026-11-22T10:30:00Z/2026-11-22T11:00:00Z';
  const { body } = await ask(`metrics/compare?base=${hour}&other=${part}`);
  expect(body).toMatchObject({
    other: { startTime: '2026-11-22T10:00:00.000Z', endTime: '2026-11-22T11:00:00.000Z' },
    work: { change: 0 },
  });
});
