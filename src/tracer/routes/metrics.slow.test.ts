import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { createTestServer } from '../../kit/testing.ts';
import { metricRoutes } from '../schemas/metrics.ts';
import { logErrors } from '../series/error-log-store.ts';
import { LiveWindow } from '../metrics/live.ts';
import {
  addSamples,
  duration,
  openTracerDatabase,
  preparePartitions,
  runParts,
} from '../series/testing.ts';
import { metricHandlers } from './metrics.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const contract = {
  name: 'tracer',
  title: 'Tracer',
  version: '1.0.0',
  description: 'Metrics only.',
  error: plainEnvelope.schema,
  routes: metricRoutes,
} as const;

let database: Database;
let server: Awaited<ReturnType<typeof createTestServer>>;
let token: string;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs);
  server = await createTestServer(contract);
  const live = new LiveWindow(() => nowMs);
  live.add({ agent: 'writer', startMs: nowMs - 120, durationMs: 120, isError: false });
  server.http.serve(
    contract,
    metricHandlers({
      sql: database,
      nowMs: () => nowMs,
      live: () => live.read({ activeTraces: 2, queuedRequests: 0 }),
    }),
  );
  token = await server.issuer.sign({ permissions: ['tracer:read'] });
  const at = { atMs: nowMs, us: 120_000 };
  await addSamples(
    database,
    [
      duration('traceName', ['POST /chat'], at),
      duration('traceAgent', ['writer'], at),
      duration('traceStatus', ['success'], at),
    ],
    { nowMs },
  );
  const failed = {
    atMs: nowMs - 5_000,
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    code: 'MODEL_TIMEOUT',
    message: 'the model said nothing',
    agent: 'writer',
    name: 'POST /chat',
    service: 'gateway',
  };
  // Within the last hour, and yet before the minute that the range of an hour begins with.
  const tooOld = { ...failed, atMs: nowMs - 3_580_000, traceId: 'c'.repeat(32) };
  await runParts(database, logErrors([failed, tooOld], 1, nowMs));
});

afterAll(async () => {
  await server.http.close(0);
  await database[Symbol.asyncDispose]();
});

async function get(url: string, bearer = token) {
  const headers = { authorization: `Bearer ${bearer}` };
  const { statusCode, payload } = await server.http.app.inject({ url, headers });
  return { status: statusCode, body: JSON.parse(payload) };
}

test.each([
  '/api/v1/metrics/aggregate?timeRange=2h',
  '/api/v1/metrics/aggregate?groupBy=service',
  '/api/v1/metrics/aggregate?metric=p95',
  '/api/v1/metrics/timeline?timeRange=2h',
  '/api/v1/metrics/timeline?groupBy=service',
  '/api/v1/metrics/timeline?key=',
  '/api/v1/metrics/errors?timeRange=',
  '/api/v1/metrics/usage?groupBy=tool',
  '/api/v1/dependencies?timeRange=24H',
  '/api/v1/errors?limit=0',
  '/api/v1/errors?limit=101',
  '/api/v1/errors?offset=-1',
])('%s is refused', async (url) => {
  expect((await get(url)).status).toBe(400);
});

test.each([
  '/api/v1/metrics/aggregate',
  '/api/v1/metrics/timeline',
  '/api/v1/metrics/live',
  '/api/v1/metrics/errors',
  '/api/v1/metrics/usage',
  '/api/v1/dependencies',
  '/api/v1/errors',
])('%s is for those who may read traces', async (url) => {
  const other = await server.issuer.sign({ permissions: ['tracer:write'] });
  expect((await get(url, other)).status).toBe(403);
  expect((await get(url)).status).toBe(200);
});

test('aggregated metrics are those of the last day by operation, where nothing else is asked for', async () => {
  const { body } = await get('/api/v1/metrics/aggregate');
  expect(body).toEqual({
    timeRange: '24h',
    startTime: '2026-11-20T10:31:00.000Z',
    endTime: '2026-11-21T10:30:20.000Z',
    aggregations: [
      {
        key: 'POST /chat',
        metrics: {
          totalRequests: 1,
          successRate: 1,
          averageDuration: 120,
          p50Duration: expect.closeTo(120, -0.5),
          p95Duration: expect.closeTo(120, -0.5),
          p99Duration: expect.closeTo(120, -0.5),
          errorRate: 0,
          throughput: expect.closeTo(1 / 86_400, 5),
        },
      },
    ],
    total: 1,
  });
});

test.each(['agent', 'operation', 'status'])('traces are grouped by %s', async (groupBy) => {
  const { body } = await get(`/api/v1/metrics/aggregate?groupBy=${groupBy}&timeRange=1h`);
  const keys = { agent: 'writer', operation: 'POST /chat', status: 'success' };
  expect(body.aggregations).toMatchObject([{ key: keys[groupBy as keyof typeof keys] }]);
});

test('a timeline is that of all traces in the last day, or of one operation', async () => {
  const { body } = await get('/api/v1/metrics/timeline');
  expect(body).toMatchObject({ timeRange: '24h', stepSeconds: 3_600 });
  expect(body.points).toHaveLength(24);
  expect(body.points.at(-1)).toMatchObject({ totalRequests: 1, averageDuration: 120 });
  const other = await get('/api/v1/metrics/timeline?key=GET%20%2Fchat');
  expect(other.body.points.at(-1)).toMatchObject({ totalRequests: 0 });
});

test('live metrics tell what intake does beside what the last minute was like', async () => {
  const { body } = await get('/api/v1/metrics/live');
  expect(body).toMatchObject({
    timestamp: '2026-11-21T10:30:20.000Z',
    metrics: { averageLatency: 120, activeTraces: 2, queuedRequests: 0 },
    topAgents: [{ agentId: 'writer' }],
  });
});

test('the error log is listed by code and agent, over the time that metrics count', async () => {
  const { body } = await get('/api/v1/errors?timeRange=1h&code=MODEL_TIMEOUT&agentId=writer');
  expect(body).toEqual({
    timeRange: '1h',
    errors: [
      {
        timestamp: '2026-11-21T10:30:15.000Z',
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        code: 'MODEL_TIMEOUT',
        message: 'the model said nothing',
        agent: 'writer',
        name: 'POST /chat',
        service: 'gateway',
      },
    ],
    total: 1,
    limit: 20,
    offset: 0,
  });
  expect((await get('/api/v1/errors?code=%00')).status).toBe(400);
  expect((await get('/api/v1/errors?code=OTHER')).body).toMatchObject({ errors: [], total: 0 });
});
