import { expect, test } from 'vitest';
import { encodeExport } from '../otlp/encode-export.ts';
import type { ExportAttributes, SpanInput } from '../otlp/export-model.ts';
import { encodeJsonExport } from '../otlp/from-json.ts';
import { jaegerMatchView, type SpanCriteria } from './matches-view.ts';
import { fixture, fixturesIn, MemoryTraces } from './testing.ts';

/** All of Jaeger's own storage tests. */
const suite = new MemoryTraces();
for (const path of fixturesIn('jaeger')) suite.bodies.push(encodeJsonExport(fixture(path)));

const from = Date.parse('2017-01-26T15:46:31.639Z') * 1000 + 875;
const hours = 3_600_000_000;
const tags = {
  sameplacetag1: 'sameplacevalue',
  sameplacetag2: '123',
  sameplacetag3: '72.5',
  sameplacetag4: 'true',
};
const scopeTags = Object.fromEntries(
  Object.entries(tags).map(([key, value]) => [key.replace('tag', 'scopeattribute'), value]),
);

function idsIn(traces: MemoryTraces, criteria: Partial<SpanCriteria>): string[] {
  const whole = { fromUs: from, toUs: from + 2 * hours, tags: {}, ...criteria };
  const ids = traces.traceIds().filter((traceId) => {
    const trace = { spans: traces.spansOf(traceId), isComplete: true, revision: 1 };
    return jaegerMatchView({ ...trace, traceId, bodies: traces.bodies }, whole) !== null;
  });
  return ids.map((id) => id.replace(/^0+/, '')).toSorted();
}

/** The queries that Jaeger's storages are tested with, and the traces of its fixtures that answer them. */
test.each<[number, Partial<SpanCriteria>, string[]]>([
  [1, { tags }, ['1']],
  [2, { tags }, ['2']],
  [5, { fromUs: from - 15.8 * hours, toUs: from - 15.6 * hours }, ['5']],
  [6, { operation: 'query06-operation' }, ['6']],
  [8, { operation: 'query08-operation', durationUsMin: 4.5, durationUsMax: 5.5 }, ['8']],
  [11, {}, ['227']],
  [13, { operation: 'query13-operation', durationUsMax: 2, tags }, ['13']],
  [16, { durationUsMax: 1, tags }, ['16']],
  [18, { operation: 'query18-operation', durationUsMax: 2, tags }, ['18']],
  [21, { durationUsMax: 1, tags }, ['21']],
  [24, { tags: scopeTags }, ['225']],
])('Jaeger’s query %d finds its trace and no other', (number, criteria, ids) => {
  const service = `query${String(number).padStart(2, '0')}-service`;
  expect(idsIn(suite, { service, ...criteria })).toEqual(ids);
  expect(idsIn(suite, { service: 'other', ...criteria })).toEqual([]);
});

test('Jaeger’s query 22 finds several traces', () => {
  expect(idsIn(suite, { service: 'query22-service' })).toHaveLength(2);
});

const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'work' };
const times = { startNs: BigInt(from) * 1000n, endNs: BigInt(from) * 1000n + 5_000_000n };

function tracesOf(span: Partial<SpanInput>, resource: ExportAttributes = []): MemoryTraces {
  const traces = new MemoryTraces();
  const scoped: ExportAttributes = [
    ['scoped', 5n],
    ['blob', Uint8Array.of(0, 1, 2)],
  ];
  const scope = { name: 'lib', version: '2', attributes: scoped };
  const scopes = [{ scope, spans: [{ ...ids, ...times, ...span }] }];
  traces.bodies.push(encodeExport([{ resource: { attributes: resource }, scopes }]));
  return traces;
}

const link = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };
const event = { timeNs: times.startNs, name: 'logged' };

test.each<[string, Partial<SpanInput>, ExportAttributes, Record<string, string>]>([
  ['its own', { attributes: [['k', 'v']] }, [], { k: 'v' }],
  ['its resource’s', {}, [['k', 'v']], { k: 'v' }],
  ['an event’s', { events: [{ ...event, attributes: [['k', 1.5]] }] }, [], { k: '1.5' }],
  ['an event’s name', { events: [{ ...event, attributes: [] }] }, [], { event: 'logged' }],
  ['a link’s', { links: [{ ...link, attributes: [['k', true]] }] }, [], { k: 'true' }],
  ['its scope’s', {}, [], { scoped: '5' }],
  ['its scope’s bytes', {}, [], { blob: 'AAEC' }],
  ['from several places', { attributes: [['k', 7n]] }, [['l', '']], { k: '7', l: '', scoped: '5' }],
  ['made of its kind', { kind: 2 }, [], { 'span.kind': 'server' }],
  ['made of its failure', { status: { code: 2 } }, [], { error: 'true' }],
  ['made of its scope', {}, [], { 'otel.scope.name': 'lib', 'otel.scope.version': '2' }],
])('a tag may be %s', (_, span, resource, wanted) => {
  const traces = tracesOf(span, resource);
  expect(idsIn(traces, { tags: wanted })).toHaveLength(1);
  for (const key of Object.keys(wanted)) {
    expect(idsIn(traces, { tags: { ...wanted, [key]: 'other' } })).toEqual([]);
  }
});

test('one span must be all that is asked for', () => {
  const traces = tracesOf({ attributes: [['k', 'v']] });
  const second = { ...ids, ...times, spanId: 'e'.repeat(16), name: 'rest', endNs: times.startNs };
  traces.bodies.push(encodeExport([{ scopes: [{ spans: [second] }] }]));
  expect(idsIn(traces, { operation: 'work', tags: { k: 'v' } })).toHaveLength(1);
  expect(idsIn(traces, { operation: 'rest', tags: { k: 'v' } })).toEqual([]);
  expect(idsIn(traces, { operation: 'rest', durationUsMin: 1 })).toEqual([]);
  expect(
    idsIn(traces, { operation: 'work', durationUsMin: 5000, durationUsMax: 5000 }),
  ).toHaveLength(1);
});

test('a property that every object has is no tag', () => {
  expect(idsIn(tracesOf({}), { tags: { constructor: 'x' } })).toEqual([]);
  expect(idsIn(tracesOf({}), { fromUs: from + 1 })).toEqual([]);
});
