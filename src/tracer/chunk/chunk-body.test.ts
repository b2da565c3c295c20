import { randomBytes } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodeExport } from '../otlp/encode-export.ts';
import type { SpanInput } from '../otlp/export-model.ts';
import { scanSpans } from '../otlp/scan.ts';
import { otlpJsonOf } from '../otlp/to-json.ts';
import { ProtoWriter } from '../otlp/writer.ts';
import { ChunkPacker, unpackChunk, unpackChunks } from './chunk-body.ts';

const now = Date.UTC(2026, 10, 21);
const nowNs = BigInt(now) * 1_000_000n + 123n;
const dayNs = 86_400_000_000_000n;
const traceIds = ['0af7651916cd43dd8448eb211c80319c', '0af7651916cd43dd8448eb211c80319d'] as const;

const packer = new ChunkPacker();

function spanOf(given: Partial<SpanInput> = {}): SpanInput {
  const [traceId] = traceIds;
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, name: 'GET /things', startNs: nowNs - 5n, endNs: nowNs, ...given };
}

function exportOf(spans: readonly SpanInput[], service = 'shop'): Uint8Array {
  const resource = { attributes: [['service.name', service]] as const };
  const scope = { name: 'instrumentation', version: '1' };
  return encodeExport([
    { resource, scopes: [{ scope, spans, schemaUrl: 'https://schema/1' }], schemaUrl: 'https://s' },
  ]);
}

/** A body with lengths as short as they can be: padded ones say the same. */
function read(body: Uint8Array, traceId: string) {
  return otlpJsonOf([body], traceId, { now });
}

/** What a chunk gives back of each trace reads as what was packed. */
function expectKept(bodies: readonly Uint8Array[]): void {
  const whole = Buffer.concat(bodies);
  const packed = packer.pack(bodies);
  expect(scanSpans(unpackChunk(packed), { now })).toEqual(scanSpans(whole, { now }));
  for (const traceId of traceIds) {
    const one = unpackChunk(packed, new Set([traceId]));
    expect(read(one, traceId)).toEqual(read(whole, traceId));
    expect(read(unpackChunk(packed), traceId)).toEqual(read(whole, traceId));
  }
}

describe('a chunk gives back the spans that are not as exporters write them', () => {
  const cases: [string, Partial<SpanInput>][] = [
    ['without an end', { endNs: 0n }],
    ['that ends before it starts', { endNs: nowNs - dayNs }],
    ['of a year', { startNs: nowNs - 365n * dayNs }],
    ['at the end of time', { startNs: 2n ** 64n - 2n, endNs: 2n ** 64n - 1n }],
    ['without a trace id', { traceId: '' }],
    ['with a long trace id', { traceId: `${traceIds[0]}00` }],
    ['with a short span id', { spanId: '0102' }],
    ['with a short parent', { parentSpanId: '01' }],
    ['of zeros', { traceId: '0'.repeat(32), spanId: '0'.repeat(16), startNs: 0n, endNs: 0n }],
  ];
  test.each(cases)('%s', (_, odd) => {
    const [, other] = traceIds;
    const near = spanOf({ traceId: other });
    expectKept([exportOf([spanOf(odd)])]);
    expectKept([exportOf([spanOf(), spanOf(odd), near, spanOf(odd), spanOf()])]);
    expectKept([exportOf([spanOf(odd), near]), exportOf([near, spanOf(odd)], 'auth')]);
  });

  test('with a field that comes twice, or is not known', () => {
    const write = (extra: (writer: ProtoWriter) => void) => {
      const writer = new ProtoWriter();
      writer.message(1, () =>
        writer.message(2, () => {
          for (const id of [1, 2]) writer.message(2, () => writeSpan(writer, id, extra));
        }),
      );
      return writer.take();
    };
    const id = Buffer.from(traceIds[1], 'hex');
    for (const extra of [
      (writer: ProtoWriter) => writer.bytes(1, id),
      (writer: ProtoWriter) => writer.bytes(2, Buffer.alloc(8, 9)),
      (writer: ProtoWriter) => writer.fixed64(7, nowNs - 77n),
      (writer: ProtoWriter) => writer.fixed64(8, nowNs + 77n),
      (writer: ProtoWriter) => writer.bytes(4, Buffer.alloc(0)),
      (writer: ProtoWriter) => writer.bytes(4, Buffer.alloc(8, 7)),
      (writer: ProtoWriter) => writer.text(900, 'from the future of the protocol'),
    ]) {
      expectKept([write(extra)]);
    }
  });
});

function writeSpan(writer: ProtoWriter, id: number, extra: (writer: ProtoWriter) => void): void {
  writer.text(5, 'name first');
  writer.fixed64(8, nowNs);
  writer.fixed64(7, nowNs - 9n);
  writer.bytes(2, Buffer.alloc(8, id));
  writer.bytes(1, Buffer.from(traceIds[0], 'hex'));
  extra(writer);
}

test('parents are found in the chunk, behind or ahead, or kept as ids', () => {
  const [one, other] = traceIds;
  const root = spanOf();
  const child = spanOf({ parentSpanId: root.spanId, startNs: nowNs - 4_000_000_000n });
  const remote = spanOf({ traceId: other, parentSpanId: 'ffffffffffffffff' });
  // Its parent begins with the same bytes as another span.
  const alike = `${root.spanId.slice(0, 8)}00000001`;
  const doubtful = spanOf({ parentSpanId: alike });
  expectKept([exportOf([child, remote, doubtful, root]), exportOf([root, child, remote])]);
  const packed = packer.pack([exportOf([child, remote, root])]);
  const ids = (traceId: string) => {
    const { heads } = scanSpans(unpackChunk(packed, new Set([traceId])), { now });
    return heads.map(({ spanId }) => spanId);
  };
  expect(ids(one)).toEqual([child.spanId, root.spanId]);
  expect(ids(other)).toEqual([remote.spanId]);
  expect(unpackChunk(packed, new Set(['f'.repeat(32)]))).toHaveLength(0);
});

test('a chunk of spans takes little more than their ids and times', () => {
  const spans = Array.from({ length: 512 }, (_, at) =>
    spanOf({ startNs: nowNs - BigInt(at * 1_000_000), endNs: nowNs - BigInt(at * 999_983) }),
  );
  const body = exportOf(spans);
  expect(packer.pack([body]).length).toBeLessThan(20 * spans.length);
  expect(body.length).toBeGreaterThan(60 * spans.length);
});

test('a chunk of an empty export, and one that holds nothing but its resource', () => {
  expectKept([new Uint8Array()]);
  expectKept([exportOf([])]);
});

test('chunks are unpacked together, those that were not split too', async () => {
  const [wanted] = traceIds;
  const body = exportOf([spanOf(), spanOf({ traceId: traceIds[1] })]);
  const bodies = [packer.pack([body]), brotliCompressSync(body), packer.pack([body, body])];
  const unpacked = await unpackChunks(bodies, new Set([wanted]));
  const many = await unpackChunks(
    Array.from({ length: 9 }, () => bodies).flat(),
    new Set([wanted]),
  );
  for (const each of [...unpacked, ...many]) {
    expect(read(each, wanted)).toEqual(read(body, wanted));
  }
  expect(unpackChunk(brotliCompressSync(body))).toEqual(Buffer.from(body));
});
