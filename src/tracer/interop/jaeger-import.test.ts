import { expect, test } from 'vitest';
import { encodeExport } from '../otlp/encode-export.ts';
import type { Span } from '../trace/span.ts';
import { spanIdOf } from './foreign-id.ts';
import { readImport } from './import.ts';
import type { JaegerTrace } from './jaeger-json.ts';
import { jaegerView } from './jaeger-view.ts';
import { JsonField } from './json-field.ts';
import { fixture, fixturesIn, MemoryTraces } from './testing.ts';

const traceID = '0af7651916cd43dd8448eb211c80319c';
const spanID = 'b7ad6b7169203331';
const start = 1_700_000_000_000_000;

const span = {
  traceID,
  spanID,
  operationName: 'work',
  references: [] as unknown[],
  startTime: start,
  duration: 250,
  tags: [] as unknown[],
  logs: [] as unknown[],
  processID: 'p1',
};
const processes = { p1: { serviceName: 'api', tags: [] as unknown[] } };
const traceOf = (...spans: object[]) => ({ data: [{ traceID, spans, processes }] });

function importOf(document: unknown): MemoryTraces {
  const traces = new MemoryTraces();
  for (const part of readImport(JSON.stringify(document)).exports) {
    traces.bodies.push(encodeExport(part));
  }
  return traces;
}

function only(traces: MemoryTraces): Span | undefined {
  return traces.traceIds().flatMap(traces.spansOf)[0];
}

function exportOf(traces: MemoryTraces): JaegerTrace[] {
  return traces.traceIds().map((traceId) => {
    const spans = traces.spansOf(traceId);
    return jaegerView({ traceId, spans, bodies: traces.bodies, isComplete: true, revision: 1 });
  });
}

/** A list in a list, so many times. */
function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}

test.each([
  [{}, 'the document must be a list of Zipkin v2 spans'],
  [3, 'the document must be an object'],
  [{ data: {} }, 'data must be a list'],
  [{ data: [{ spans: [span], processes: {} }] }, 'data[0].spans[0].processID must name one of'],
  [{ spans: [span], processes: { p1: {} } }, 'processes.p1.serviceName must be a text'],
  [traceOf({ ...span, traceID: 1 }), 'data[0].spans[0].traceID must be a text'],
  [traceOf({ ...span, duration: -5 }), 'spans[0].duration must be a whole number'],
  [traceOf({ ...span, startTime: null }), 'spans[0].startTime must be a whole number'],
  [traceOf(span, { ...span, tags: [{ value: 1 }] }), 'spans[1].tags[0].key must be a text'],
  [traceOf({ ...span, references: [{ refType: 'NEXT' }] }), 'refType must be CHILD_OF or'],
  [traceOf({ ...span, logs: [{}] }), 'spans[0].logs[0].timestamp must be'],
  [traceOf({ ...span, tags: [{ key: 'a', value: nested(40) }] }), 'is nested too deeply'],
  [traceOf({ ...span, warnings: [1] }), 'spans[0].warnings[0] must be a text'],
])('a flaw is refused with its place: %#', (document, message) => {
  expect(() => readImport(JSON.stringify(document))).toThrow(message);
});

test('tags keep their types', () => {
  const tags = [
    { key: 'text', type: 'string', value: '1' },
    { key: 'flag', type: 'bool', value: 'true' },
    { key: 'off', type: 'bool', value: false },
    { key: 'count', type: 'int64', value: 42 },
    { key: 'large', type: 'int64', value: '9007199254740993' },
    { key: 'beyond', type: 'int64', value: '99999999999999999999' },
    { key: 'ratio', type: 'float64', value: 0.5 },
    { key: 'written', type: 'float64', value: '2.5' },
    { key: 'bytes', type: 'binary', value: 'AAEC' },
    { key: 'untyped', value: 7 },
    { key: 'empty', type: 'string', value: null },
    { key: 'list', value: ['a', 1] },
  ];
  expect(only(importOf(traceOf({ ...span, tags })))?.attributes).toEqual({
    text: '1',
    flag: true,
    off: false,
    count: 42,
    large: '9007199254740993',
    beyond: '99999999999999999999',
    ratio: 0.5,
    written: 2.5,
    bytes: 'AAEC',
    untyped: 7,
    empty: null,
    list: ['a', 1],
  });
});

test.each([
  [[{ key: 'error', type: 'bool', value: true }], true, undefined],
  [[{ key: 'error', type: 'string', value: 'true' }], true, undefined],
  [[{ key: 'error', type: 'string', value: 'no route' }], true, 'no route'],
  [[{ key: 'error', type: 'bool', value: false }], false, undefined],
  [[{ key: 'otel.status_code', type: 'string', value: 'ERROR' }], true, undefined],
  [
    [
      { key: 'error', type: 'bool', value: true },
      { key: 'otel.status_description', type: 'string', value: 'why' },
    ],
    true,
    'why',
  ],
])('the tags %j say whether the span failed', (tags, isError, message) => {
  const read = only(importOf(traceOf({ ...span, tags })));
  expect(read?.isError).toBe(isError);
  expect(read?.statusMessage || undefined).toBe(message);
});

test('a reference in the trace is the parent, others are links', () => {
  const other = 'f'.repeat(32);
  const references = [
    { refType: 'CHILD_OF', traceID: other, spanID: '9' },
    { refType: 'FOLLOWS_FROM', traceID, spanID: '8' },
    { refType: 'CHILD_OF', traceID, spanID: '7' },
  ];
  const read = only(importOf(traceOf({ ...span, references })));
  expect(read?.parentSpanId).toBe('0000000000000007');
  expect(read?.links).toEqual([
    {
      traceId: other,
      spanId: '0000000000000009',
      attributes: { 'opentracing.ref_type': 'child_of' },
    },
    {
      traceId: traceID,
      spanId: '0000000000000008',
      attributes: { 'opentracing.ref_type': 'follows_from' },
    },
  ]);
});

test('a span that only follows from another hangs below it, and so does one of an old exporter', () => {
  const follower = { ...span, references: [{ refType: 'FOLLOWS_FROM', traceID, spanID: '8' }] };
  expect(only(importOf(traceOf(follower)))).toMatchObject({
    parentSpanId: '0000000000000008',
    links: [{ spanId: '0000000000000008' }],
  });
  expect(only(importOf(traceOf({ ...span, parentSpanID: '6' })))?.parentSpanId).toBe(
    '0000000000000006',
  );
  expect(only(importOf(traceOf({ ...span, parentSpanID: '0' })))?.parentSpanId).toBeUndefined();
});

test('a trace on a clock that begins at 0 is moved as a whole', () => {
  const child = { ...span, spanID: '2', startTime: 10, logs: [{ timestamp: 15, fields: [] }] };
  const traces = importOf(traceOf({ ...span, startTime: 0 }, child));
  expect(traces.spansOf(traceID)).toMatchObject([
    { startUs: 1, endUs: 251 },
    { startUs: 11, endUs: 261, events: [{ timeUs: 16 }] },
  ]);
});

const tagged = {
  ...span,
  flags: 3,
  references: [{ refType: 'CHILD_OF', traceID, spanID: '0000000000000007' }],
  tags: [
    { key: 'a', type: 'string', value: 'b' },
    { key: 'n', type: 'int64', value: -4 },
    { key: 'r', type: 'float64', value: 1.25 },
    { key: 'whole', type: 'float64', value: 3 },
    { key: 'none', type: 'float64', value: 'NaN' },
    { key: 'endless', type: 'float64', value: '-Infinity' },
    { key: 'large', type: 'int64', value: '9007199254740993' },
    { key: 'bytes', type: 'binary', value: 'AAEC' },
    { key: 'list', type: 'string', value: '["a",1]' },
    { key: 'otel.scope.name', type: 'string', value: 'lib' },
    { key: 'otel.scope.version', type: 'string', value: '2' },
    { key: 'span.kind', type: 'string', value: 'server' },
    { key: 'otel.status_code', type: 'string', value: 'ERROR' },
    { key: 'error', type: 'bool', value: true },
    { key: 'otel.status_description', type: 'string', value: 'broken' },
    { key: 'w3c.tracestate', type: 'string', value: 'x=y' },
  ],
  logs: [
    {
      timestamp: start + 5,
      fields: [
        { key: 'event', type: 'string', value: 'exception' },
        { key: 'size', type: 'int64', value: 3 },
      ],
    },
    { timestamp: start + 6, fields: [{ key: 'message', type: 'string', value: 'm' }] },
  ],
  warnings: ['clock skew'],
};

test('a span that ended well leaves as one, with all that was said of it', () => {
  const tags = [
    { key: 'otel.status_description', type: 'string', value: 'fine' },
    { key: 'otel.status_code', type: 'string', value: 'OK' },
  ];
  const [trace] = exportOf(importOf(traceOf({ ...span, tags })));
  expect(trace?.spans[0]?.tags).toEqual(tags);
});

test('what came as Jaeger’s JSON leaves as the same', () => {
  const document = traceOf(tagged);
  const [trace] = exportOf(importOf(document));
  expect(trace).toEqual({ ...document.data[0], warnings: null });
});

/** A trace without what stands for nothing: order, padding, flags and an error that is told twice. */
function essence({ spans, processes: of }: JaegerTrace) {
  const idOf = (id: string) => spanIdOf(new JsonField(id));
  const meaning = spans.map((one) => ({
    id: idOf(one.spanID),
    name: one.operationName,
    service: of[one.processID]?.serviceName,
    duration: one.duration,
    references: one.references.map(({ refType, spanID: id }) => `${refType} ${idOf(id)}`),
    tags: one.tags
      .filter(({ key }) => !/^(error|otel\..*)$/.test(key))
      .map(({ key, value }) => `${key}=${value}`)
      .toSorted(),
    hasFailed: one.tags.some(({ key, value }) => key === 'error' && String(value) === 'true'),
    logs: (one.logs ?? []).map(({ fields }) => fields.map(({ key, value }) => `${key}=${value}`)),
  }));
  return meaning.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

const files = ['crisp', 'jaeger-ui', 'jaeger-ui/statistics'].flatMap(fixturesIn);

test.each(files.filter((path) => !path.includes('otlp2jaeger')))(
  '%s means the same after import and export',
  (path) => {
    const document = JSON.parse(fixture(path)) as { data?: JaegerTrace[] } & JaegerTrace;
    const [sent = document] = document.data ?? [];
    const filled = sent.spans.map((one) => ({
      ...one,
      tags: one.tags ?? [],
      logs: one.logs ?? [],
    }));
    const [trace] = exportOf(importOf(document));
    expect(trace && essence(trace)).toEqual(essence({ ...sent, spans: filled }));
  },
);

test('Jaeger’s own translation of an OTLP trace reads as that trace', () => {
  const [translated] = exportOf(importOf(JSON.parse(fixture('jaeger-ui/otlp2jaeger-out.json'))));
  const sent = JSON.parse(fixture('jaeger-ui/otlp2jaeger-out.json')).data[0].spans[0];
  expect(translated?.spans[0]).toMatchObject({
    operationName: sent.operationName,
    references: sent.references,
    startTime: sent.startTime,
    duration: sent.duration,
    tags: expect.arrayContaining(
      sent.tags.filter(({ key }: { key: string }) => !key.startsWith('otel.')),
    ),
  });
});
