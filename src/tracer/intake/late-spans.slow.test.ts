import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../../kit/sockets/testing.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase } from '../series/testing.ts';
import { exportOf, newTraceId, startTracer, type Answer } from '../testing.ts';

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const rootId = '1'.repeat(16);
const childId = '2'.repeat(16);
const never = { TRACER_QUIET_MS: '60000', TRACER_PARTIAL_MS: '60000' };

type Tracer = Awaited<ReturnType<typeof startTracer>>;

/** Expects that lists with these filters have a trace as its detail is, and answers the detail. */
async function expectAgreement(tracer: Tracer, traceId: string, filters: readonly string[]) {
  const { body: detail } = await tracer.call('GET', `/api/v1/traces/${traceId}`);
  const { name, startTime, endTime, duration, status, tags, isComplete, error } = detail;
  for (const filter of filters) {
    const { body } = await tracer.call('GET', `/api/v1/traces?limit=1000&${filter}`);
    const listed = body.traces.filter((one: Answer) => one.traceId === traceId);
    expect(listed, filter).toEqual([
      expect.objectContaining({ name, startTime, endTime, duration, status, tags, isComplete }),
    ]);
    expect(listed[0]).toMatchObject({ spans: detail.totalSpans, ...(error && { error }) });
    expect(listed[0].agents.toSorted()).toEqual(detail.agents.toSorted());
  }
  return detail;
}

function lateSpans(traceId: string) {
  const late = { traceId, parentSpanId: rootId, from: 20 };
  return [
    exportOf('late-one', [{ ...late, spanId: childId, to: 40, isError: true, message: 'gone' }]),
    exportOf('late-two', [{ ...late, spanId: '3'.repeat(16), to: 900 }]),
  ];
}

async function expectOpenAgain(tracer: Tracer, traceId: string, service: string) {
  for (const body of lateSpans(traceId)) expect((await tracer.send(body)).status).toBe(200);
  const narrow = ['agentId=late-two', 'minDuration=800', 'status=error', `service=${service}`];
  const detail = await expectAgreement(tracer, traceId, ['', ...narrow, narrow.join('&')]);
  expect(detail).toMatchObject({ isComplete: false, status: 'error', totalSpans: 3 });
  for (const wrong of ['status=success', 'maxDuration=800', 'startTime=2100-01-01T00:00:00Z']) {
    const { body } = await tracer.call('GET', `/api/v1/traces?limit=1000&${wrong}`);
    expect(body.traces.map((one: Answer) => one.traceId)).not.toContain(traceId);
  }
  const { body } = await tracer.call('GET', '/api/traces?service=late-two&lookback=1h');
  expect(body.data.map(({ traceID }: Answer) => traceID)).toContain(traceId);
  const all = await tracer.call('GET', '/api/v1/traces?limit=1000');
  expect(all.body.total).toBe(all.body.traces.length);
}

test('a complete trace of a process before is listed with what came since, as it reads', async () => {
  const traceId = newTraceId();
  const root = { traceId, spanId: rootId, from: 0, to: 50, name: 'stored' };
  {
    await using before = await startTracer({ database });
    await before.send(exportOf('stored-shop', [root]));
    await before.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  }
  await using tracer = await startTracer({ database, environment: never });
  await expectOpenAgain(tracer, traceId, 'stored-shop');
});

test('a trace that is still in memory, too, with a root or without', async () => {
  // What is too much is complete at once, and nothing else is.
  const environment = { ...never, TRACER_OPEN_SPANS_MAX: '1000' };
  await using tracer = await startTracer({ database, environment });
  const [traceId, partial, crowd] = [newTraceId(), newTraceId(), newTraceId()];
  const ids = Array.from({ length: 1_001 }, (_, at) => (at + 1).toString(16).padStart(16, '0'));
  const root = { traceId, spanId: rootId, from: 0, to: 50, name: 'kept' };
  const orphan = { ...root, traceId: partial, parentSpanId: '9'.repeat(16) };
  const others = ids.map((spanId) => ({ traceId: crowd, spanId, from: 0, to: 1 }));
  await tracer.send(exportOf('kept-shop', [...others, root, orphan]));
  for (const id of [crowd, traceId, partial]) {
    await tracer.until(`/api/v1/traces/${id}`, (body) => body.isComplete);
  }
  await expectOpenAgain(tracer, partial, 'kept-shop');
  await tracer.send(exportOf('kept-shop', [root]));
  await expectAgreement(tracer, traceId, ['', 'agentId=kept-shop&name=kept']);
});

test('a span that was sent in two ways is the one that ends later, in lists and by its id', async () => {
  await using tracer = await startTracer({ database, environment: never });
  const traceId = newTraceId();
  const root = { traceId, spanId: rootId, from: 0 };
  for (const [name, to] of [
    ['one', 50] as const,
    ['other', 900] as const,
    ['third', 100] as const,
  ]) {
    await tracer.send(exportOf('two-ways', [{ ...root, to, name }]));
    expect((await tracer.call('GET', '/api/v1/traces?agentId=two-ways')).body.total).toBe(1);
  }
  const detail = await expectAgreement(tracer, traceId, ['', 'name=other', 'maxDuration=900']);
  expect(detail).toMatchObject({ name: 'other', duration: 900, totalSpans: 1 });
});

test('a span that only comes again is told to nobody', async () => {
  await using tracer = await startTracer({ database });
  const client = await new TestClient(`${tracer.url}/api/v1/traces/stream`, {
    headers: { authorization: `Bearer ${tracer.admin}` },
  }).opened();
  client.send({ action: 'subscribe', ack: true, filters: { agents: ['resent'] } });
  expect(await client.next()).toMatchObject({ type: 'subscribed' });
  const traceId = newTraceId();
  const body = exportOf('resent', [{ traceId, spanId: rootId, from: 0, to: 50 }]);
  await tracer.send(body);
  expect(await client.next()).toMatchObject({ type: 'trace-completed', traceId });
  await tracer.send(body);
  await tracer.until(`/api/v1/traces/${traceId}`, (one) => one.isComplete && one.revision === 2);
  const late = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
  await tracer.send(exportOf('resent', [late]));
  const updated = { type: 'trace-updated', traceId, data: { spans: 2 } };
  expect(await client.next()).toMatchObject(updated);
  client.socket.close();
});
