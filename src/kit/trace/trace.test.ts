import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { SpanKind, SpanStatusCode, Tracer, failSpan, type SpanRecord } from './trace.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';
import { encodeOtlp, SpanExporter } from './trace-export.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

const malformed = [
  undefined,
  '',
  'rubbish',
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-extra`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId}-${spanId}`,
];
test.each(malformed)('the traceparent %j counts as absent', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test('a traceparent of a later version is read, and written again as version 00', () => {
  const context = parseTraceparent(`01-${traceId}-${spanId}-01-future`);
  expect(context && formatTraceparent(context)).toBe(`00-${traceId}-${spanId}-01`);
});

function recorder() {
  const spans: SpanRecord[] = [];
  return { spans, tracer: new Tracer((span) => spans.push(span)) };
}

test("a child has its parent's trace and names its parent; it is recorded once", () => {
  const { spans, tracer } = recorder();
  const parent = tracer.start('parent');
  const child = tracer.start('child', { parent: parent.spanContext(), kind: SpanKind.CLIENT });
  child.end();
  child.end();
  parent.end();
  expect(spans.map(({ name }) => name)).toEqual(['child', 'parent']);
  expect(spans[0]?.traceId).toBe(spans[1]?.traceId);
  expect(spans[0]?.parentSpanId).toBe(spans[1]?.spanId);
});

test('a trace that its caller did not sample is passed on but not recorded', () => {
  const { spans, tracer } = recorder();
  const parent = parseTraceparent(`00-${traceId}-${spanId}-00`);
  const span = tracer.start('unsampled', { parent });
  span.end();
  expect(spans).toEqual([]);
  expect(formatTraceparent(span.spanContext())).toMatch(
    new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
  );
});

test('what a span is told after its end changes neither its name nor how it ended', () => {
  const { spans, tracer } = recorder();
  const span = tracer.start('done');
  span.end();
  span.updateName('other').setStatus({ code: SpanStatusCode.ERROR });
  expect(spans).toHaveLength(1);
  expect(spans[0]).toMatchObject({
    name: 'done',
    status: { code: SpanStatusCode.UNSET },
    events: [],
  });
});

test('a failed span says why', () => {
  const { spans, tracer } = recorder();
  const span = tracer.start('failing');
  failSpan(span, Object.assign(new Error('boom'), { code: 'upstream' }));
  span.end();
  expect(spans[0]).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: 'boom' },
    attributes: { 'error.type': 'upstream' },
    events: [{ name: 'exception', attributes: { 'exception.message': 'boom' } }],
  });
});

test('spans become the JSON of OTLP, with times as text and integers apart from doubles', () => {
  const { spans, tracer } = recorder();
  tracer.start('one', { attributes: { n: 3, x: 0.5, is: true, list: ['a', 'b'] } }).end();
  const [span] = spans;
  if (!span) throw new Error('no span was recorded');
  const resource = { 'service.name': 'notes' };
  const { resourceSpans } = JSON.parse(encodeOtlp([{ resource, span }]));
  expect(resourceSpans[0].resource.attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'notes' } },
  ]);
  const encoded = resourceSpans[0].scopeSpans[0].spans[0];
  expect(encoded.startTimeUnixNano).toMatch(/^\d{19}$/);
  expect(encoded.attributes).toEqual([
    { key: 'n', value: { intValue: '3' } },
    { key: 'x', value: { doubleValue: 0.5 } },
    { key: 'is', value: { boolValue: true } },
    {
      key: 'list',
      value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } },
    },
  ]);
});

let receiver: Server | undefined;
afterEach(() => void receiver?.close());

async function receive(status: number) {
  const bodies: string[] = [];
  const requests: IncomingMessage[] = [];
  receiver = createServer(async (request, response) => {
    requests.push(request);
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.writeHead(status).end('{}');
  });
  await new Promise<void>((resolve) => receiver?.listen(0, '127.0.0.1', () => resolve()));
  const { port } = receiver.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bodies, requests };
}

test('ended spans reach the receiver with the token', async () => {
  const { url, bodies, requests } = await receive(200);
  const exporter = new SpanExporter({ url, token: async () => 'the-token' });
  const tracer = new Tracer(exporter.sink({ 'service.name': 'notes' }));
  tracer.start('exported').end();
  await exporter[Symbol.asyncDispose]();
  expect(requests[0]?.url).toBe('/v1/traces');
  expect(requests[0]?.headers.authorization).toBe('Bearer the-token');
  expect(bodies[0]).toContain('"name":"exported"');
});

test('a receiver that refuses is left alone for a while and costs nobody an error', async () => {
  const { url, bodies } = await receive(404);
  const exporter = new SpanExporter({ url });
  const tracer = new Tracer(exporter.sink({ 'service.name': 'notes' }));
  tracer.start('first').end();
  await exporter.flush();
  tracer.start('second').end();
  expect(exporter.dropped).toBe(2);
  await exporter[Symbol.asyncDispose]();
  expect(bodies).toHaveLength(1);
});

test('who knows that the receiver is back ends the pause', async () => {
  const { url, bodies } = await receive(404);
  const exporter = new SpanExporter({ url });
  const tracer = new Tracer(exporter.sink({ 'service.name': 'notes' }));
  tracer.start('first').end();
  await exporter.flush();
  exporter.resume();
  tracer.start('second').end();
  await exporter[Symbol.asyncDispose]();
  expect(bodies.at(-1)).toContain('"name":"second"');
});

test('a receiver that does not listen is no error', async () => {
  const exporter = new SpanExporter({ url: 'http://127.0.0.1:1' });
  new Tracer(exporter.sink({})).start('lost').end();
  await expect(exporter.flush()).resolves.toBeUndefined();
  await exporter[Symbol.asyncDispose]();
});
