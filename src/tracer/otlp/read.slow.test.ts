import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SpanHead } from '../trace/span.ts';
import { Fault } from '../../kit/errors.ts';
import { encodeExport } from './encode-export.ts';
import type { ExportAttributes, ExportValue, SpanInput } from './export-model.ts';
import { encodeJsonExport } from './from-json.ts';
import { readSpans } from './read.ts';
import { scanSpans } from './scan.ts';
import { otlpJsonOf } from './to-json.ts';
import { ProtoWriter } from './writer.ts';

const now = Date.UTC(2026, 10, 21);
const startNs = BigInt(now) * 1_000_000n;
const traceId = '0af7651916cd43dd8448eb211c80319c';
const otherId = 'ffffffffffffffffffffffffffffffff';

const everyValue: ExportAttributes = [
  ['text', 'é\0✓'],
  ['empty', ''],
  ['int', 42n],
  ['negative', -9_223_372_036_854_775_808n],
  ['minus one', -1n],
  ['large', 9_223_372_036_854_775_807n],
  ['safe', 9_007_199_254_740_991n],
  ['double', 42],
  ['fraction', -0.25],
  ['NaN', Number.NaN],
  ['infinite', Number.NEGATIVE_INFINITY],
  ['true', true],
  ['false', false],
  ['bytes', Buffer.from([0, 255, 128])],
  ['nothing', null],
  ['list', ['a', 1n, [], [2.5, null]]],
  [
    'map',
    {
      pairs: [
        ['inner', { pairs: [['deepest', 'x']] }],
        ['list', [true]],
      ],
    },
  ],
  ['__proto__', 'polluted'],
  ['twice', 1n],
  ['twice', 2n],
];

const full: SpanInput = {
  traceId,
  spanId: 'b7ad6b7169203331',
  parentSpanId: 'b7ad6b7169203332',
  traceState: 'vendor=1',
  flags: 0x301,
  name: 'chat gpt',
  kind: 3,
  startNs: startNs + 123_456_789n,
  endNs: startNs + 987_654_321n,
  attributes: everyValue,
  droppedAttributesCount: 1,
  events: [
    { timeNs: startNs + 1_001n, name: 'exception', attributes: [['exception.type', 'E']] },
    { timeNs: 0n, name: '', attributes: everyValue, droppedAttributesCount: 2 },
  ],
  droppedEventsCount: 3,
  links: [
    {
      traceId: otherId,
      spanId: '1111111111111111',
      traceState: 'a=b',
      attributes: everyValue,
      droppedAttributesCount: 4,
      flags: 1,
    },
  ],
  droppedLinksCount: 5,
  status: { code: 2, message: 'broken' },
};

const resource = {
  attributes: [['service.name', 'shop'], ...everyValue] satisfies ExportAttributes,
  droppedAttributesCount: 6,
};
const scope = { name: 'lib', version: '1.2', attributes: everyValue, droppedAttributesCount: 7 };

const fullExport = encodeExport([
  {
    resource,
    schemaUrl: 'https://example.com/r',
    scopes: [{ scope, schemaUrl: 'https://example.com/s', spans: [full] }],
  },
]);

function spanOf(spanId: string, more: Partial<SpanInput> = {}): Uint8Array {
  const span = { traceId, spanId, name: spanId, startNs, endNs: startNs, ...more };
  return encodeExport([{ scopes: [{ spans: [span] }] }]);
}

function headsOf(spans: readonly SpanHead[], heads: readonly SpanHead[]) {
  const keys = Object.keys(heads[0] ?? {}) as (keyof SpanHead)[];
  return spans.map((span) => Object.fromEntries(keys.map((key) => [key, span[key]])));
}

describe('readSpans', () => {
  it('takes nothing of a trace that is not there, and of an id that is none', () => {
    expect(readSpans([fullExport], otherId, { now })).toEqual([]);
    expect(readSpans([fullExport], 'no id', { now })).toEqual([]);
    expect(readSpans([fullExport], '', { now })).toEqual([]);
    expect(readSpans([], traceId, { now })).toEqual([]);
  });

  it('leaves out what the scanner rejects', () => {
    const late = spanOf('00000000000000a1', { startNs: startNs * 2n });
    expect(readSpans([late, spanOf('00000000000000a2')], traceId, { now })).toHaveLength(1);
    const unopened = new ProtoWriter();
    const rubbish = Buffer.alloc(1_048_577, 0xff);
    unopened.message(1, () => unopened.message(2, () => unopened.bytes(2, rubbish)));
    const body = unopened.take();
    expect(scanSpans(body, { now })).toMatchObject({ heads: [], rejectedCount: 1 });
    expect(readSpans([body], traceId, { now })).toEqual([]);
    expect(otlpJsonOf([body], traceId, { now })).toEqual({ resourceSpans: [] });
  });

  it('reads every value as it was sent, whole numbers that JSON cannot hold and bytes as texts', () => {
    const [span] = readSpans([fullExport], traceId, { now });
    const values = {
      text: 'é\0✓',
      empty: '',
      int: 42,
      negative: '-9223372036854775808',
      'minus one': -1,
      large: '9223372036854775807',
      safe: 9_007_199_254_740_991,
      double: 42,
      fraction: -0.25,
      NaN: 'NaN',
      infinite: '-Infinity',
      true: true,
      false: false,
      bytes: 'AP+A',
      nothing: null,
      list: ['a', 1, [], [2.5, null]],
      map: { inner: { deepest: 'x' }, list: [true] },
      twice: 2,
    };
    expect(span).toMatchObject({
      attributes: values,
      resource: { 'service.name': 'shop', ...values },
      scope: { name: 'lib', version: '1.2' },
      traceState: 'vendor=1',
      links: [{ traceId: otherId, spanId: '1111111111111111', attributes: values }],
    });
    expect(span?.events[1]).toEqual({ name: '', timeUs: 0, attributes: values });
    expect(Object.getPrototypeOf(span?.attributes)).toBe(Object.prototype);
    expect(Object.keys(span?.attributes ?? {})).not.toContain('__proto__');
  });

  it('gives the heads that the scanner gives', () => {
    const { heads } = scanSpans(fullExport, { now });
    expect(headsOf(readSpans([fullExport], traceId, { now }), heads)).toEqual(heads);
    expect(heads).toMatchObject([{ isError: true, errorCode: 'E', service: 'shop' }]);
  });

  it('sorts by start, over bodies of one and of several requests', () => {
    const at = (ns: bigint) => ({ startNs: startNs + ns });
    const first = Buffer.concat([spanOf('00000000000000a3', at(3_000n)), fullExport]);
    const second = spanOf('00000000000000a1', at(1_000n));
    const ids = readSpans([first, second], traceId, { now }).map((span) => span.spanId);
    expect(ids).toEqual(['00000000000000a1', '00000000000000a3', full.spanId]);
  });

  it('keeps of a span that came several times the last of those that end last', () => {
    const id = '00000000000000a1';
    const bodies = [
      spanOf(id, { name: 'early' }),
      spanOf(id, { name: 'late', endNs: startNs + 9_000n }),
      spanOf(id, { name: 'late again', endNs: startNs + 9_000n }),
      spanOf(id, { name: 'early again' }),
    ];
    const spans = readSpans(bodies, traceId, { now });
    expect(spans.map((span) => span.name)).toEqual(['late again']);
    expect(otlpJsonOf(bodies, traceId, { now })).toMatchObject({
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'late again' }] }] }],
    });
  });
});

describe('OTLP/JSON', () => {
  const json = otlpJsonOf([fullExport], traceId, { now });

  it('says everything that protobuf says, and comes back as the same bytes', () => {
    expect(Buffer.from(encodeJsonExport(JSON.stringify(json)))).toEqual(Buffer.from(fullExport));
    const again = otlpJsonOf([encodeJsonExport(JSON.stringify(json))], traceId, { now });
    expect(again).toEqual(json);
    expect(JSON.stringify(json)).toContain(
      '{"key":"negative","value":{"intValue":"-9223372036854775808"}}',
    );
    expect(JSON.stringify(json)).toContain('{"key":"double","value":{"doubleValue":42}}');
  });

  it('groups by resource and scope over bodies', () => {
    const inScope = (name: string, spanId: string, service = 'a') =>
      encodeExport([
        {
          resource: { attributes: [['service.name', service]] },
          scopes: [{ scope: { name }, spans: [{ ...full, spanId }] }],
        },
      ]);
    const bodies = [
      inScope('x', '00000000000000a1'),
      inScope('y', '00000000000000a2'),
      Buffer.concat([inScope('x', '00000000000000a3'), inScope('x', '00000000000000a4', 'b')]),
    ];
    const { resourceSpans } = otlpJsonOf(bodies, traceId, { now });
    expect(resourceSpans).toMatchObject([
      { scopeSpans: [{ spans: [{}, {}] }, { scope: { name: 'y' }, spans: [{}] }] },
      { scopeSpans: [{ spans: [{ spanId: '00000000000000a4' }] }] },
    ]);
    expect(resourceSpans).toHaveLength(2);
  });
});

const folder = fileURLToPath(new URL('fixtures/', import.meta.url));

/** The spans of an OTLP/JSON file as they stand there, under lower-case ids. */
function spansIn(text: string): { traceId: string; spanId: string }[] {
  const file = JSON.parse(
    text.replaceAll(/"(traceId|spanId|parentSpanId)": *"[^"]*"/g, (id) =>
      id.replace(/"[^"]*"$/, (hex) => hex.toLowerCase()),
    ),
  );
  return file.resourceSpans.flatMap((group: { scopeSpans: { spans: object[] }[] }) =>
    group.scopeSpans.flatMap((inner) => inner.spans),
  );
}

describe('the examples of opentelemetry-proto', () => {
  it('hold no spans where they are logs', () => {
    expect(encodeJsonExport(readFileSync(`${folder}logs.json`))).toHaveLength(0);
  });

  it('go to protobuf and back without a loss', () => {
    const text = readFileSync(`${folder}trace.json`, 'utf8');
    const body = encodeJsonExport(text);
    const expected = spansIn(text);
    const [{ traceId: id } = { traceId: '' }] = expected;
    const json = JSON.stringify(otlpJsonOf([body], id));
    const wanted = expected.filter((span) => span.traceId === id);
    expect(spansIn(json)).toEqual(wanted.map((span) => expect.objectContaining(span)));
    expect(readSpans([encodeJsonExport(json)], id)).toEqual(readSpans([body], id));
  });
});

describe('a request in which one byte is wrong or that ends too early', () => {
  const small: ExportValue = { pairs: [['a', [1n, -1n, 0.5, true, null, 'x']]] };
  const request = encodeExport([
    {
      resource: {
        attributes: [
          ['service.name', 'shop'],
          ['map', small],
        ],
      },
      scopes: [
        {
          scope: { name: 'lib' },
          spans: [
            {
              ...full,
              attributes: [
                ['v', small],
                ['gen_ai.system', 'x'],
              ],
              events: [{ timeNs: 1n, name: 'exception', attributes: [['exception.type', 'E']] }],
              links: [{ traceId, spanId: '1111111111111111' }],
            },
          ],
        },
      ],
    },
  ]);

  /** Scans and, where that succeeds, reads: only the scan may throw, and only the one Fault. */
  function outcomeOf(body: Uint8Array): 'taken' | 'refused' {
    let ids: readonly string[];
    try {
      ids = scanSpans(body, { now }).heads.map((head) => head.traceId);
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      expect(error).toMatchObject({ reason: 'malformed_protobuf' });
      return 'refused';
    }
    for (const id of new Set(ids)) {
      const spans = readSpans([body], id, { now });
      const { heads } = scanSpans(body, { now });
      expect(headsOf(spans, heads)).toEqual(heads.filter((head) => head.traceId === id));
      const json = JSON.stringify(otlpJsonOf([body], id, { now }));
      expect(readSpans([encodeJsonExport(json)], id, { now })).toHaveLength(spans.length);
    }
    return 'taken';
  }

  it('is refused when cut anywhere but at its end', () => {
    const outcomes = Array.from(request, (_, length) => outcomeOf(request.subarray(0, length)));
    expect(new Set(outcomes.slice(1))).toEqual(new Set(['refused']));
    expect(outcomeOf(request)).toBe('taken');
  });

  it('is refused or taken, never anything else', () => {
    const seen = { taken: 0, refused: 0 };
    for (let at = 0; at < request.length; at += 1)
      for (const mask of [0x01, 0x08, 0xff]) {
        const body = Uint8Array.from(request);
        body[at] = (body[at] ?? 0) ^ mask;
        seen[outcomeOf(body)] += 1;
      }
    expect(seen.taken).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });
});
