import { credentials, Metadata } from '@grpc/grpc-js';
import { SpanKind, trace, context } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from '../kit/sockets/testing.ts';
import { exportOf, newTraceId, startTracer } from './testing.ts';

let tracer: Awaited<ReturnType<typeof startTracer>>;

beforeAll(async () => {
  tracer = await startTracer();
});

afterAll(async () => {
  await tracer[Symbol.asyncDispose]();
});

/** Records a small trace with an SDK and exports it; answers its id. */
async function record(exporter: SpanExporter, agent: string): Promise<string> {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', 'agent.id': agent }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const source = provider.getTracer('tests', '1.2.3');
  const root = source.startSpan('GET /basket', { kind: SpanKind.SERVER, root: true });
  const below = trace.setSpan(context.active(), root);
  const child = source.startSpan('SELECT items', { kind: SpanKind.CLIENT }, below);
  child.setAttributes({ 'db.system.name': 'postgresql', rows: 7, ratio: 0.5, ok: true });
  child.addEvent('fetched', { page: 2 });
  child.end();
  root.setAttribute('env', 'test');
  root.end();
  await provider.forceFlush();
  await provider.shutdown();
  return root.spanContext().traceId;
}

describe('OpenTelemetry exporters', () => {
  const headers = () => ({ authorization: `Bearer ${tracer.admin}` });
  const exporters: readonly (readonly [string, () => SpanExporter])[] = [
    [
      'OTLP/HTTP protobuf',
      () => new ProtobufExporter({ url: `${tracer.url}/v1/traces`, headers: headers() }),
    ],
    [
      'OTLP/HTTP protobuf, gzip',
      () =>
        new ProtobufExporter({
          url: `${tracer.url}/v1/traces`,
          headers: headers(),
          compression: 'gzip' as never,
        }),
    ],
    [
      'OTLP/HTTP JSON',
      () => new JsonExporter({ url: `${tracer.url}/v1/traces`, headers: headers() }),
    ],
    [
      'OTLP/gRPC',
      () => {
        const metadata = new Metadata();
        metadata.set('authorization', `Bearer ${tracer.admin}`);
        return new GrpcExporter({
          url: `http://127.0.0.1:${tracer.grpcPort}`,
          credentials: credentials.createInsecure(),
          metadata,
        });
      },
    ],
  ];

  it.each(exporters)('are served: %s', async (_name, open) => {
    const traceId = await record(open(), 'agent-shop');
    const detail = await tracer.until(
      `/api/v1/traces/${traceId}`,
      ({ spans }) => spans.length === 2,
    );
    expect(detail).toMatchObject({
      traceId,
      name: 'GET /basket',
      status: 'success',
      agents: ['agent-shop'],
      tags: { env: 'test' },
    });
    const child = detail.spans.find(({ name }: { name: string }) => name === 'SELECT items');
    expect(child).toMatchObject({
      kind: 'client',
      tags: { 'db.system.name': 'postgresql', rows: 7, ratio: 0.5, ok: true },
      events: [{ name: 'fetched', attributes: { page: 2 } }],
    });
    expect(child.parentSpanId).toBe(
      detail.spans.find(({ name }: { name: string }) => name === 'GET /basket').spanId,
    );
  });
});

describe('an export', () => {
  it('is stored when it is acknowledged', async () => {
    const traceId = newTraceId();
    const body = exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]);
    expect((await tracer.send(body)).status).toBe(200);
    const { status, body: detail } = await tracer.call('GET', `/api/v1/traces/${traceId}`);
    expect([status, detail.spans.length, detail.isComplete]).toEqual([200, 1, false]);
  });

  it('is refused without a token, and with one that may not write', async () => {
    const body = Buffer.from(exportOf('shop', []));
    const anonymous = await fetch(`${tracer.url}/v1/traces`, { method: 'POST', body });
    expect(anonymous.status).toBe(401);
    const reader = await tracer.issuer.sign({ permissions: ['tracer:read'] });
    const forbidden = await tracer.send(new Uint8Array(body), {
      authorization: `Bearer ${reader}`,
    });
    expect(forbidden.status).toBe(403);
  });

  it.each([
    ['protobuf that is none', Buffer.from([10, 255, 255, 3]), 'application/x-protobuf', 400],
    ['JSON that is none', Buffer.from('{"resourceSpans":'), 'application/json', 400],
    ['a text', Buffer.from('hello'), 'text/plain', 415],
  ])('is refused when it is %s', async (_name, body, type, status) => {
    const answer = await tracer.send(body, { 'content-type': type });
    expect(answer.status).toBe(status);
  });

  it('is refused when it inflates to more than is taken', async () => {
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    const answer = await tracer.send(bomb, { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(413);
  });

  it('answers how many of its spans were rejected and why', async () => {
    const body = exportOf('shop', [
      { traceId: '0'.repeat(32), spanId: '1'.repeat(16), from: 0, to: 1 },
    ]);
    const json = await tracer.send(body);
    expect(json.status).toBe(200);
    expect(json.bytes.length).toBeGreaterThan(2);
  });

  it('without spans is acknowledged', async () => {
    expect((await tracer.send(new Uint8Array())).status).toBe(200);
  });
});

describe('a trace', () => {
  it('is complete once its root has ended and nothing more comes', async () => {
    const traceId = newTraceId();
    const child = { traceId, spanId: '2'.repeat(16), parentSpanId: '1'.repeat(16) };
    await tracer.send(exportOf('db', [{ ...child, from: 1, to: 4, kind: 2 }]));
    await tracer.send(exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]));
    const detail = await tracer.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    expect(detail).toMatchObject({ revision: 1, duration: 5, agents: ['shop', 'db'] });
    const { totalDuration, networkTime, processingTime, overhead } = detail.metrics;
    expect(networkTime + processingTime + overhead).toBe(totalDuration);
  });

  it('takes spans that come late, and is complete again', async () => {
    const traceId = newTraceId();
    await tracer.send(exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]));
    await tracer.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    const late = { traceId, spanId: '2'.repeat(16), parentSpanId: '1'.repeat(16) };
    await tracer.send(
      exportOf('db', [{ ...late, from: 1, to: 4, isError: true, message: 'gone' }]),
    );
    const detail = await tracer.until(
      `/api/v1/traces/${traceId}`,
      (body) => body.isComplete && body.revision === 2,
    );
    expect(detail.spans).toHaveLength(2);
    expect(detail).toMatchObject({ status: 'error', error: { message: 'gone', agent: 'db' } });
  });

  it('counts a span once, however often it is sent', async () => {
    const traceId = newTraceId();
    const body = exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]);
    await Promise.all([tracer.send(body), tracer.send(body), tracer.send(body)]);
    await tracer.send(body);
    const detail = await tracer.until(`/api/v1/traces/${traceId}`, (one) => one.isComplete);
    expect(detail.spans).toHaveLength(1);
    const { body: list } = await tracer.call('GET', '/api/v1/traces?limit=1000');
    const listed = list.traces.find((one: { traceId: string }) => one.traceId === traceId);
    expect(listed.spans).toBe(1);
  });

  it('without a root is complete after a longer quiet', async () => {
    const traceId = newTraceId();
    const orphan = { traceId, spanId: '2'.repeat(16), parentSpanId: '9'.repeat(16) };
    await tracer.send(exportOf('shop', [{ ...orphan, from: 0, to: 7, name: 'orphan' }]));
    const detail = await tracer.until(`/api/v1/traces/${traceId}`, (body) => body.isComplete);
    expect(detail).toMatchObject({ name: 'orphan', duration: 7 });
  });

  it('that is not stored is not found, and an id that is none is refused', async () => {
    const unknown = await tracer.call('GET', `/api/v1/traces/${'f'.repeat(32)}`);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'TRACE_NOT_FOUND']);
    expect((await tracer.call('GET', '/api/v1/traces/xyz')).status).toBe(400);
  });
});

describe('the listing', () => {
  it('filters, pages and tells the error rate', async () => {
    const agent = 'agent-listing';
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const traceId = newTraceId();
      ids.push(traceId);
      await tracer.send(
        exportOf('shop', [
          {
            traceId,
            spanId: '1'.repeat(16),
            from: index * 100,
            to: index * 100 + 10 * (index + 1),
            attributes: [['agent.id', agent]],
            isError: index === 4,
            message: 'deadline exceeded',
          },
        ]),
      );
    }
    const path = `/api/v1/traces?agentId=${agent}`;
    const all = await tracer.until(path, ({ traces }) =>
      traces.every((one: { isComplete: boolean }) => one.isComplete),
    );
    expect(all).toMatchObject({ total: 5, page: 1, pageSize: 100 });
    expect(all.traces.map((one: { traceId: string }) => one.traceId)).toEqual(ids.toReversed());
    expect(all).not.toHaveProperty('errorRate');
    const { body: second } = await tracer.call('GET', `${path}&limit=2&page=2`);
    expect(second).toMatchObject({ total: 5, page: 2, pageSize: 2 });
    expect(second.traces).toHaveLength(2);
    const { body: slow } = await tracer.call('GET', `${path}&minDuration=30&maxDuration=40`);
    expect(slow.total).toBe(2);
    const started: string[] = all.traces.map((one: { startTime: string }) => one.startTime);
    const [day = ''] = started.map((time) => time.slice(0, 10));
    const { body: ofDay } = await tracer.call('GET', `${path}&startTime=${day}&endTime=${day}`);
    expect(ofDay.total).toBe(started.filter((time) => time.startsWith(day)).length);
    const failed = ['error', 'timeout'].map((status) =>
      tracer.call('GET', `${path}&status=${status}`),
    );
    const [errors, timeouts] = await Promise.all(failed);
    expect((errors?.body.total ?? 0) + (timeouts?.body.total ?? 0)).toBe(1);
    expect(errors?.body.errorRate).toBe(0.2);
  });

  it.each(['limit=0', 'limit=1001', 'status=odd', 'startTime=yesterday', 'page=0'])(
    'refuses %s',
    async (query) => {
      expect((await tracer.call('GET', `/api/v1/traces?${query}`)).status).toBe(400);
    },
  );
});

describe('the stream', () => {
  it('tells of complete traces that match', async () => {
    const client = await new TestClient(`${tracer.url}/api/v1/traces/stream`, {
      headers: { authorization: `Bearer ${tracer.admin}` },
    }).opened();
    client.send({
      action: 'subscribe',
      ack: true,
      filters: { agents: ['agent-stream'], minDuration: 10, status: ['success'] },
    });
    expect(await client.next()).toMatchObject({ type: 'subscribed' });
    const [short, long] = [newTraceId(), newTraceId()];
    const own = [['agent.id', 'agent-stream']] as const;
    for (const [traceId, to] of [[short, 5] as const, [long, 25] as const]) {
      await tracer.send(
        exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to, attributes: own }]),
      );
    }
    expect(await client.next()).toMatchObject({
      type: 'trace-completed',
      traceId: long,
      data: { name: 'work', duration: 25, status: 'success', spans: 1, bottlenecks: 0 },
    });
    client.socket.close();
  });
});

it('tells how it does with figures of its own storage', async () => {
  const traceId = newTraceId();
  await tracer.send(exportOf('shop', [{ traceId, spanId: '1'.repeat(16), from: 0, to: 5 }]));
  const response = await fetch(`${tracer.url}/api/v1/health`);
  const health = await response.json();
  expect(health).toMatchObject({ status: 'healthy', version: '1.0.0' });
  expect(health.database.status).toBe('healthy');
  expect(health.storage.tracesStored).toBeGreaterThan(0);
  expect(health.storage.spansStored).toBeGreaterThanOrEqual(health.storage.tracesStored);
});
