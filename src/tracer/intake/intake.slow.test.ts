import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase, preparePartitions } from '../series/testing.ts';
import { baseMs, exportOf, newTraceId, startTracer, type Answer } from '../testing.ts';

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const rootId = '1'.repeat(16);
const childId = '2'.repeat(16);

/** How often a trace of this name was counted. */
async function countedAs(tracer: Awaited<ReturnType<typeof startTracer>>, name: string) {
  const { body } = await tracer.call('GET', '/api/v1/metrics/aggregate?timeRange=1h');
  const found = body.aggregations.find(({ key }: Answer) => key === name);
  return found?.metrics.totalRequests ?? 0;
}

describe('open traces', () => {
  it('go on after a restart, and are counted once', async () => {
    const traceId = newTraceId();
    const name = 'restarted';
    const slow = { TRACER_QUIET_MS: '60000' };
    {
      await using before = await startTracer({ database, environment: slow });
      const root = { traceId, spanId: rootId, from: 0, to: 9, name };
      await before.send(exportOf('shop', [root]));
    }
    await using after = await startTracer({ database });
    const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
    await after.send(exportOf('db', [child]));
    const detail = await after.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    expect(detail).toMatchObject({ name, revision: 1, totalSpans: 2, agents: ['shop', 'db'] });
    expect(await countedAs(after, name)).toBe(1);
  });

  it('of two replicas become one, counted once', async () => {
    await using one = await startTracer({ database });
    await using other = await startTracer({ database });
    const traceId = newTraceId();
    const name = 'shared';
    const root = { traceId, spanId: rootId, from: 0, to: 9, name };
    const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
    await Promise.all([one.send(exportOf('shop', [root])), other.send(exportOf('db', [child]))]);
    const isWhole = (body: Answer) => body.isComplete && body.totalSpans === 2;
    await one.until(`/api/v1/traces/${traceId}`, isWhole);
    // Whatever the other replica still does with it changes nothing.
    await new Promise((resolve) => setTimeout(resolve, 800));
    const detail = await other.until(`/api/v1/traces/${traceId}`, isWhole);
    expect(detail).toMatchObject({ name, agents: ['shop', 'db'] });
    expect(await countedAs(one, name)).toBe(1);
    const { body } = await one.call('GET', '/api/v1/traces?name=shared');
    expect(body).toMatchObject({ total: 1, traces: [{ spans: 2 }] });
  });

  it('that were complete long ago take spans that come late', async () => {
    const traceId = newTraceId();
    const name = 'forgotten';
    {
      await using before = await startTracer({ database });
      const root = { traceId, spanId: rootId, from: 0, to: 9, name };
      await before.send(exportOf('shop', [root]));
      await before.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    }
    // A late span is not taken for one whose root is still to come.
    await using after = await startTracer({
      database,
      environment: { TRACER_PARTIAL_MS: '60000' },
    });
    const child = { traceId, spanId: childId, parentSpanId: rootId, from: 1, to: 2 };
    await after.send(exportOf('db', [{ ...child, isError: true, message: 'late' }]));
    const detail = await after.until(
      `/api/v1/traces/${traceId}`,
      (body) => body.isComplete && body.revision === 2,
    );
    expect(detail).toMatchObject({ name, status: 'error', totalSpans: 2 });
    expect(await countedAs(after, name)).toBe(1);
    const { body } = await after.call(
      'GET',
      '/api/v1/metrics/aggregate?timeRange=1h&groupBy=status',
    );
    const statuses = Object.fromEntries(
      body.aggregations.map(({ key, metrics }: Answer) => [key, metrics.totalRequests]),
    );
    expect(statuses['error']).toBe(1);
  });
});

/** Has all complete traces as if they had come so many days ago. */
async function age(days: number): Promise<void> {
  await preparePartitions(database, Date.now() - days * dayMs);
  await database.query('update tracer.trace set day = day - $1::integer', [days]);
  await database.query('update tracer.day_total set day = day - $1::integer', [days]);
}

test.each([1, 3])('a trace that comes again %i days later is counted once', async (days) => {
  const traceId = newTraceId();
  const name = `again-${days}`;
  const from = -days * dayMs;
  const root = { traceId, spanId: rootId, from, to: from + 9, name, isError: true };
  {
    await using before = await startTracer({ database });
    await before.send(exportOf('shop', [root]));
    await before.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  }
  await age(days);
  await using after = await startTracer({ database });
  await after.send(exportOf('shop', [root]));
  const isAgain = (body: Answer) => body.isComplete && body.revision === 2;
  await after.until(`/api/v1/traces/${traceId}`, isAgain);
  const { body: list } = await after.call('GET', `/api/v1/traces?name=${name}`);
  expect(list).toMatchObject({ total: 1, traces: [{ traceId, spans: 1 }] });
  const { body } = await after.call('GET', '/api/v1/metrics/aggregate?timeRange=7d');
  const found = body.aggregations.find(({ key }: Answer) => key === name);
  expect(found.metrics).toMatchObject({ totalRequests: 1, errorRate: 1 });
});

describe('after a time in which nobody was there', () => {
  const slow = { TRACER_QUIET_MS: '60000', TRACER_PARTIAL_MS: '60000' };

  /** Leaves a trace open, as if it had come nine days ago. */
  async function leaveOpen(): Promise<string> {
    const traceId = newTraceId();
    await using before = await startTracer({ database, environment: slow });
    await before.send(exportOf('shop', [{ traceId, spanId: rootId, from: 0, to: 9 }]));
    // Who reads has its row written.
    expect((await before.call('GET', `/api/v1/traces/${traceId}`)).status).toBe(200);
    await database.query(
      `update tracer.open_trace set day = day - 9, received_at = received_at - 9 * 86400000::bigint,
         touched_at = touched_at - interval '9 days'`,
    );
    return traceId;
  }

  it('open traces whose spans are not kept any more are forgotten, and keep up no others', async () => {
    const left = await leaveOpen();
    await database.query('delete from tracer.chunk');
    await using after = await startTracer({ database });
    const traceId = newTraceId();
    await after.send(exportOf('shop', [{ traceId, spanId: rootId, from: 0, to: 9 }]));
    await after.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    await vi.waitFor(async () =>
      expect(await database.query('select from tracer.open_trace')).toEqual([]),
    );
    expect((await after.call('GET', `/api/v1/traces/${left}`)).status).toBe(404);
  });

  it('an open trace whose spans are kept is completed, though its day is over', async () => {
    const left = await leaveOpen();
    await using after = await startTracer({ database });
    const detail = await after.until(`/api/v1/traces/${left}`, (body) => body.isComplete);
    expect(detail).toMatchObject({ totalSpans: 1, revision: 1 });
  });

  it('a day that nobody was ready for takes spans at once', async () => {
    await using tracer = await startTracer({ database });
    const today = Math.floor(Date.now() / 86_400_000);
    for (const table of ['chunk', 'trace', 'block_minute']) {
      await database.query(`drop table tracer.${table}_${today}`);
    }
    const traceId = newTraceId();
    const sent = await tracer.send(exportOf('shop', [{ traceId, spanId: rootId, from: 0, to: 9 }]));
    expect(sent.status).toBe(200);
    await tracer.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
  });
});

describe('a failed trace that changes after it was complete', () => {
  it('stands in the error log once, as it is at last', async () => {
    await using tracer = await startTracer();
    const traceId = newTraceId();
    const isError = true;
    const child = { traceId, spanId: childId, parentSpanId: rootId, from: 50, to: 60, isError };
    const isRevision = (revision: number) => (body: Answer) =>
      body.isComplete && body.revision === revision;
    const logged = () => tracer.call('GET', '/api/v1/errors?timeRange=1h');
    await tracer.send(exportOf('db', [{ ...child, name: 'query' }]));
    await tracer.until(`/api/v1/traces/${traceId}`, isRevision(1));
    expect((await logged()).body).toMatchObject({ total: 1, errors: [{ name: 'query' }] });
    const root = { traceId, spanId: rootId, from: 0, to: 99, name: 'request' };
    await tracer.send(exportOf('shop', [root]));
    await tracer.until(`/api/v1/traces/${traceId}`, isRevision(2));
    const timestamp = new Date(baseMs).toISOString();
    expect((await logged()).body).toMatchObject({
      total: 1,
      errors: [{ traceId, spanId: childId, name: 'request', service: 'shop', timestamp }],
    });
  });

  it('leaves the error log when it has not failed after all', async () => {
    await using tracer = await startTracer();
    const traceId = newTraceId();
    const root = { traceId, spanId: rootId, from: 0, to: 9 };
    await tracer.send(exportOf('shop', [{ ...root, isError: true }]));
    await tracer.until('/api/v1/errors?timeRange=1h', (body) => body.total === 1);
    await tracer.send(exportOf('shop', [{ ...root, to: 20 }]));
    await tracer.until(`/api/v1/traces?status=success`, (body) => body.total === 1);
    await tracer.until('/api/v1/errors?timeRange=1h', (body) => body.total === 0);
  });
});

it('a trace that fails is listed with its error before it is complete', async () => {
  await using tracer = await startTracer({ environment: { TRACER_QUIET_MS: '60000' } });
  const traceId = newTraceId();
  const failed = {
    traceId,
    spanId: rootId,
    from: 0,
    to: 9,
    isError: true,
    message: 'too slow',
    attributes: [['error.type', 'MODEL_TIMEOUT']] as const,
  };
  await tracer.send(exportOf('shop', [failed]));
  const { body } = await tracer.call('GET', '/api/v1/traces?status=timeout');
  expect(body).toMatchObject({
    total: 1,
    traces: [
      {
        traceId,
        status: 'timeout',
        isComplete: false,
        error: { code: 'MODEL_TIMEOUT', message: 'too slow', spanId: rootId, agent: 'shop' },
      },
    ],
  });
});

it('a search by service and operation passes by traces that have neither', async () => {
  await using tracer = await startTracer();
  for (let index = 0; index < 60; index += 1) {
    const one = { traceId: newTraceId(), spanId: rootId, from: index, to: index + 1 };
    await tracer.send(exportOf(`service-${index}`, [{ ...one, name: `op-${index}` }]));
  }
  const search = async (query: string) => {
    const { body } = await tracer.call('GET', `/api/traces?${query}&lookback=1h&limit=100`);
    return body.data.length;
  };
  await tracer.until('/api/v1/traces?limit=100', ({ total }) => total === 60);
  for (const index of [0, 17, 59]) {
    expect(await search(`service=service-${index}`)).toBe(1);
    expect(await search(`service=service-${index}&operation=op-${index}`)).toBe(1);
    expect(await search(`service=service-${index}&operation=op-${index + 1}`)).toBe(0);
  }
  expect(await search('service=service-0&minDuration=999.5us')).toBe(1);
  expect(await search('service=service-0&minDuration=1.0005ms')).toBe(0);
  const parts = '/api/traces?service=service-0&lookback=3600000000001ns';
  expect((await tracer.call('GET', parts)).body.data).toHaveLength(1);
});

describe('more than intake can hold', () => {
  it('is refused with a time to come back, and nothing of it is lost', async () => {
    await using tracer = await startTracer({ environment: { TRACER_QUEUED_MEGABYTES: '1' } });
    const ids = Array.from({ length: 24 }, newTraceId);
    const long = [['text', 'x'.repeat(200_000)]] as const;
    const sends = ids.map((traceId) =>
      tracer.send(
        exportOf('shop', [{ traceId, spanId: rootId, from: 0, to: 1, attributes: long }]),
      ),
    );
    const answers = await Promise.all(sends);
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 429]));
    for (const [index, { status, headers }] of answers.entries()) {
      const stored = await tracer.call('GET', `/api/v1/traces/${ids[index]}`);
      expect(stored.status).toBe(status === 200 ? 200 : 404);
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
});
