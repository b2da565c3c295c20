import { expect, test } from 'vitest';
import { encodeExport } from '../otlp/encode-export.ts';
import { scanSpans } from '../otlp/scan.ts';
import type { Span } from '../trace/span.ts';
import { readImport, readZipkinSpans } from './import.ts';
import { fixture, fixturesIn, MemoryTraces } from './testing.ts';

const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', id: 'b7ad6b7169203331' };
const whole = { ...ids, timestamp: 1_700_000_000_000_000, duration: 1500 };

async function importOf(spans: unknown): Promise<Span[]> {
  const traces = new MemoryTraces();
  for (const part of readImport(JSON.stringify(spans)).exports)
    await traces.ingest(encodeExport(part));
  return traces.traceIds().flatMap(traces.spansOf);
}

async function sentOf(...requests: unknown[][]): Promise<Span[]> {
  const traces = new MemoryTraces();
  for (const spans of requests) {
    for (const part of readZipkinSpans(JSON.stringify(spans)))
      await traces.ingest(encodeExport(part));
  }
  return traces.traceIds().flatMap(traces.spansOf);
}

test.each([
  ['[3]', '[0] must be an object'],
  ['[{}]', '[0].traceId must be a text'],
  [[{ ...whole, id: '' }], '[0].id must be an id of 1 to 128 characters'],
  [[{ ...whole, id: '0000000000000000' }], '[0].id must not be zero'],
  [[whole, { ...whole, parentId: 7 }], '[1].parentId must be a text'],
  [[{ ...whole, kind: 'BOTH' }], '[0].kind must be CLIENT, SERVER, PRODUCER or CONSUMER'],
  [[{ ...whole, duration: -1 }], '[0].duration must be a whole number'],
  [[{ ...whole, timestamp: 1.5 }], '[0].timestamp must be a whole number'],
  [[{ ...whole, tags: { a: 1 } }], '[0].tags.a must be a text'],
  [[{ ...whole, tags: ['a'] }], '[0].tags must be an object'],
  [[{ ...whole, shared: 'yes' }], '[0].shared must be true or false'],
  [[{ ...whole, annotations: {} }], '[0].annotations must be a list'],
  [[{ ...whole, annotations: [{ value: 'x' }] }], '[0].annotations[0].timestamp must be'],
  ['[{', 'the document is no JSON'],
])('%j is refused with the place', (document, message) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  expect(() => readImport(text)).toThrow(message);
});

test('a span without any time is rejected, and not the others', () => {
  const text = JSON.stringify([{ ...ids }, whole]);
  const [part = []] = readImport(text).exports;
  expect(scanSpans(encodeExport(part))).toMatchObject({ rejectedCount: 1, heads: [{ name: '' }] });
});

test('an id of 64 bits is padded, and one that is no number is the same every time', async () => {
  const [short] = await importOf([{ ...whole, traceId: 'A1', id: 'B2' }]);
  expect(short).toMatchObject({ traceId: `${'0'.repeat(30)}a1`, spanId: `${'0'.repeat(14)}b2` });
  const [one] = await importOf([{ ...whole, traceId: 'trace-1' }]);
  const [other] = await importOf([{ ...whole, traceId: 'trace-1' }]);
  expect(one?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(other?.traceId).toBe(one?.traceId);
});

test('all that is said of a span is kept', async () => {
  const [span] = await importOf([
    {
      ...whole,
      parentId: '1',
      name: 'get /users',
      kind: 'CLIENT',
      localEndpoint: { serviceName: 'front', ipv4: '10.0.0.1', port: 80 },
      remoteEndpoint: { serviceName: 'back', ipv6: '::1', port: 9000 },
      annotations: [{ timestamp: 1_700_000_000_000_700, value: 'sent' }],
      tags: { 'http.path': '/users', error: 'refused' },
      debug: true,
    },
  ]);
  expect(span).toMatchObject({
    parentSpanId: `${'0'.repeat(15)}1`,
    name: 'get /users',
    kind: 3,
    service: 'front',
    host: '10.0.0.1',
    startUs: whole.timestamp,
    endUs: whole.timestamp + 1500,
    isError: true,
    statusMessage: 'refused',
    callee: { type: 'external', name: 'back' },
    attributes: {
      'http.path': '/users',
      error: 'refused',
      'network.local.port': 80,
      'peer.service': 'back',
      'network.peer.address': '::1',
      'network.peer.port': 9000,
      'zipkin.debug': true,
    },
    events: [{ name: 'sent', timeUs: 1_700_000_000_000_700 }],
  });
});

test.each([
  ['true', true, ''],
  ['', true, ''],
  ['500', true, '500'],
  ['false', false, ''],
])('the tag error %j makes a failed span %s', async (error, isError, message) => {
  const [span] = await importOf([{ ...whole, tags: { error } }]);
  expect(span?.isError).toBe(isError);
  expect(span?.statusMessage ?? '').toBe(message);
});

const client = { ...whole, kind: 'CLIENT', localEndpoint: { serviceName: 'front' } };
const server = {
  ...whole,
  timestamp: whole.timestamp + 100,
  duration: 1000,
  kind: 'SERVER',
  shared: true,
  localEndpoint: { serviceName: 'back' },
};
const query = {
  ...whole,
  timestamp: whole.timestamp + 200,
  id: '77',
  parentId: ids.id,
  localEndpoint: { serviceName: 'back' },
};

function tree(spans: readonly Span[]): Record<string, string | undefined> {
  const nameOf = (id?: string) => {
    const span = spans.find(({ spanId }) => spanId === id);
    return span ? `${span.service} ${span.kind}` : id;
  };
  return Object.fromEntries(spans.map((span) => [nameOf(span.spanId), nameOf(span.parentSpanId)]));
}

test('a span that client and server share becomes two, and what the server did is below its own', async () => {
  for (const spans of [
    await importOf([query, server, client]),
    await importOf([query, { ...server, shared: undefined }, client]),
    await sentOf([client, server, query]),
    await sentOf([client], [server, query]),
    await sentOf([client, server], [client, server, query]),
  ]) {
    expect(tree(spans)).toEqual({
      'front 3': undefined,
      'back 2': 'front 3',
      'back 1': 'back 2',
    });
  }
});

test('a shared server span whose client is not in the file keeps its place', async () => {
  const spans = await importOf([{ ...server, parentId: '5' }, query]);
  expect(tree(spans)).toEqual({ 'back 2': `${'0'.repeat(15)}5`, 'back 1': 'back 2' });
});

test('several server spans of one client are all kept', async () => {
  const later = { ...server, timestamp: server.timestamp + 1 };
  expect(await importOf([client, server, later])).toHaveLength(3);
});

test.each(fixturesIn('zipkin'))('%s is taken whole, every span with its parent', async (path) => {
  const sent = JSON.parse(fixture(path)) as { readonly traceId: string }[];
  const spans = await importOf(sent);
  expect(spans).toHaveLength(sent.length);
  const known = new Set(spans.map(({ spanId }) => spanId));
  const lost = spans.filter(({ parentSpanId: id }) => id !== undefined && !known.has(id));
  expect(lost).toEqual([]);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toHaveLength(1);
});
