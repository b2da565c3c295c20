import { describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { encodeExport } from './encode-export.ts';
import type { ExportAttributes, ExportValue, SpanInput } from './export-model.ts';
import { scanSpans } from './scan.ts';
import { ProtoWriter } from './writer.ts';

const now = Date.UTC(2026, 10, 21);
const nowNs = BigInt(now) * 1_000_000n;
const aDayNs = 86_400_000_000_000n;
const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

const good: SpanInput = {
  traceId,
  spanId,
  name: 'GET /things',
  startNs: nowNs - 1_000_000_000n,
  endNs: nowNs,
};

function exportOf(
  spans: readonly Partial<SpanInput>[],
  attributes: ExportAttributes = [['service.name', 'shop']],
): Uint8Array {
  const whole = spans.map((span) => ({ ...good, ...span }));
  return encodeExport([{ resource: { attributes }, scopes: [{ spans: whole }] }]);
}

function headOf(span: Partial<SpanInput>, resource?: ExportAttributes) {
  const { heads, rejection } = scanSpans(exportOf([span], resource), { now });
  expect(rejection).toBeUndefined();
  return heads[0]!;
}

function nested(depth: number): ExportValue {
  let value: ExportValue = 'leaf';
  for (let level = 1; level < depth; level += 1)
    value = level % 2 === 0 ? [value] : { pairs: [['in', value]] };
  return value;
}

const many = (count: number): ExportAttributes =>
  Array.from({ length: count }, (_, index) => [`key-${index}`, 1n]);

describe('a span that breaks a rule is rejected and the others are taken', () => {
  const event = { name: 'e', timeNs: nowNs };
  const link = { traceId, spanId };
  const cases: [why: string, span: Partial<SpanInput>, sentence: RegExp][] = [
    ['no trace id', { traceId: '' }, /trace id is not 16 bytes/],
    ['a trace id of 15 bytes', { traceId: traceId.slice(2) }, /trace id is not 16 bytes/],
    ['a trace id of zeros', { traceId: '0'.repeat(32) }, /is all zero/],
    ['no span id', { spanId: '' }, /span id is not 8 bytes/],
    ['a span id of 9 bytes', { spanId: `${spanId}00` }, /span id is not 8 bytes/],
    ['a span id of zeros', { spanId: '0'.repeat(16) }, /is all zero/],
    ['a parent id of 7 bytes', { parentSpanId: '01'.repeat(7) }, /parent is not 8 bytes/],
    ['a name over 4 KiB', { name: 'n'.repeat(4_097) }, /longer than 4 KiB/],
    ['no start', { startNs: 0n }, /no start time/],
    ['a start below a microsecond', { startNs: 999n }, /no start time/],
    ['a start at the end of time', { startNs: 2n ** 64n - 1n }, /in the future/],
    ['a start in two days', { startNs: nowNs + 2n * aDayNs }, /in the future/],
    ['an end at the end of time', { endNs: 2n ** 64n - 1n }, /in the future/],
    ['1,001 attributes', { attributes: many(1_001) }, /1,000 attributes/],
    ['1,001 events', { events: Array.from({ length: 1_001 }, () => event) }, /1,000 events/],
    ['1,001 links', { links: Array.from({ length: 1_001 }, () => link) }, /1,000 links/],
    ['10 MB in an attribute', { attributes: [['a', 'x'.repeat(10_000_000)]] }, /larger than 1 MiB/],
    ['a list 33 deep', { attributes: [['a', nested(33)]] }, /deeper than 32/],
    ['an event 33 deep', { events: [{ ...event, attributes: [['a', nested(33)]] }] }, /deeper/],
    ['a link 40 deep', { links: [{ ...link, attributes: [['a', nested(40)]] }] }, /deeper/],
  ];
  it.each(cases)('%s', (_, span, sentence) => {
    const body = exportOf([{ spanId: '00000000000000a1' }, span, { spanId: '00000000000000a2' }]);
    const { heads, rejectedCount, rejection } = scanSpans(body, { now });
    expect(rejectedCount).toBe(1);
    expect(rejection).toMatch(sentence);
    expect(heads.map((head) => head.spanId)).toEqual(['00000000000000a1', '00000000000000a2']);
  });

  it('also one with a list 200,000 deep, in time', () => {
    const sizes: Buffer[] = [];
    let length = 0;
    for (let depth = 0; depth < 100_000; depth += 1)
      for (const tag of [10, 42]) {
        const header = new ProtoWriter();
        header.unsigned(1, length);
        const field = Buffer.from(header.take());
        field[0] = tag;
        sizes.push(field);
        length += field.length;
      }
    const value = Buffer.concat(sizes.toReversed());
    const writer = new ProtoWriter();
    writer.message(1, () =>
      writer.message(2, () =>
        writer.message(2, () => {
          writer.bytes(1, Buffer.from(traceId, 'hex'));
          writer.bytes(2, Buffer.from(spanId, 'hex'));
          writer.fixed64(7, nowNs);
          writer.message(9, () => writer.bytes(2, value));
        }),
      ),
    );
    const body = writer.take();
    expect(value.length).toBeGreaterThan(400_000);
    expect(scanSpans(body, { now }).rejection).toMatch(/deeper than 32/);
  });

  it('and so are all spans of a resource or scope that is too large or too deep', () => {
    const large: ExportAttributes = [['a', 'x'.repeat(1_048_577)]];
    const deep: ExportAttributes = [['a', nested(33)]];
    expect(scanSpans(exportOf([{}, {}], large), { now })).toMatchObject({ rejectedCount: 2 });
    expect(scanSpans(exportOf([{}], deep), { now }).rejection).toMatch(/of its resource is nested/);
    const scoped = encodeExport([{ scopes: [{ scope: { attributes: deep }, spans: [good] }] }]);
    expect(scanSpans(scoped, { now }).rejection).toMatch(/of its scope is nested/);
  });
});

describe('what stands at the edge of a rule is taken', () => {
  const cases: [what: string, span: Partial<SpanInput>][] = [
    ['a name of 4 KiB', { name: 'n'.repeat(4_096) }],
    ['1,000 attributes', { attributes: many(1_000) }],
    ['a value 32 deep', { attributes: [['a', nested(32)]] }],
    ['a start in a day', { startNs: nowNs + aDayNs, endNs: 0n }],
    ['a start in 1970', { startNs: 1_000n, endNs: 0n }],
  ];
  it.each(cases)('%s', (_, span) => {
    expect(scanSpans(exportOf([span]), { now })).toMatchObject({ rejectedCount: 0 });
  });
});

describe('a body that is no export is refused', () => {
  const written = (write: (writer: ProtoWriter) => void) => {
    const writer = new ProtoWriter();
    write(writer);
    return writer.take();
  };
  const inSpan = (write: (writer: ProtoWriter) => void) =>
    written((w) => w.message(1, () => w.message(2, () => w.message(2, () => write(w)))));
  const cases: [what: string, body: Uint8Array][] = [
    ['JSON', Buffer.from('{"resourceSpans":[]}')],
    ['a length beyond the body', Buffer.from([10, 200])],
    ['a varint of eleven bytes', Buffer.from([0x10, ...Array.from({ length: 11 }, () => 0x80)])],
    ['field number 0', Buffer.from([0x02, 0x00])],
    ['a group', Buffer.from([0x13, 0x14])],
    ['resource spans as a number', written((w) => w.unsigned(1, 5))],
    ['a trace id as a number', inSpan((w) => w.unsigned(1, 5))],
    ['a start time as a varint', inSpan((w) => w.unsigned(7, 5))],
    ['an attribute as a fixed64', inSpan((w) => w.fixed64(9, 5n))],
    [
      'an int value as a text',
      inSpan((w) => w.message(9, () => w.message(2, () => w.text(3, 'x')))),
    ],
    ['a status code as a text', inSpan((w) => w.message(15, () => w.text(3, 'x')))],
    ['an event time as a varint', inSpan((w) => w.message(11, () => w.unsigned(1, 1)))],
    ['a link that is cut off', inSpan((w) => w.bytes(13, Buffer.from([10, 16, 1])))],
  ];
  it.each(cases)('%s', (_, body) => {
    expect(() => scanSpans(body, { now })).toThrow(
      expect.objectContaining({ code: 'invalid', reason: 'malformed_protobuf' }),
    );
  });

  it('but an empty one, one with unknown fields, and several after one another are exports', () => {
    expect(scanSpans(Buffer.alloc(0), { now }).heads).toEqual([]);
    const unknown = inSpan((w) => {
      w.bytes(1, Buffer.from(traceId, 'hex'));
      w.text(99, 'from the future');
      w.bytes(2, Buffer.from(spanId, 'hex'));
      w.fixed64(7, nowNs);
      w.unsigned(2_000, 7);
      w.fixed32(300, 7);
      w.message(15, () => w.unsigned(1, 2));
      w.double(301, 7);
    });
    expect(scanSpans(unknown, { now }).heads).toHaveLength(1);
    const two = Buffer.concat([exportOf([{}]), unknown, exportOf([{}, {}])]);
    expect(scanSpans(two, { now }).heads.map((head) => head.service)).toEqual([
      'shop',
      'unknown',
      'shop',
      'shop',
    ]);
  });

  it('a resource that stands after its spans, or in two parts, counts for them', () => {
    const body = written((w) =>
      w.message(1, () => {
        w.message(2, () =>
          w.message(2, () => {
            w.fixed64(7, nowNs);
            w.bytes(2, Buffer.from(spanId, 'hex'));
            w.bytes(1, Buffer.from(traceId, 'hex'));
          }),
        );
        for (const [key, value] of [
          ['service.name', 'late'],
          ['host.name', 'h1'],
        ] as const)
          w.message(1, () =>
            w.message(1, () => {
              w.message(2, () => w.text(1, value));
              w.text(1, key);
            }),
          );
      }),
    );
    expect(scanSpans(body, { now }).heads).toMatchObject([{ service: 'late', host: 'h1' }]);
  });
});

describe('a head says', () => {
  it('ids in lower-case hexadecimal, whatever stands beside them', () => {
    const spans = Array.from({ length: 3_000 }, (_, index) => ({
      traceId: `${'ab'.repeat(14)}${String(index >> 1).padStart(4, '0')}`,
      spanId: `CDEF${String(index).padStart(12, '0')}`,
      parentSpanId: index % 3 === 0 ? undefined : `00000000000${String(index).padStart(5, '1')}`,
    }));
    const { heads } = scanSpans(exportOf(spans), { now });
    expect(
      heads.map((head) => ({
        traceId: head.traceId,
        spanId: head.spanId,
        parentSpanId: head.parentSpanId,
      })),
    ).toEqual(spans.map((span) => ({ ...span, spanId: span.spanId.toLowerCase() })));
  });

  it('no parent for a span that names itself or zeros', () => {
    expect(headOf({ parentSpanId: spanId }).parentSpanId).toBeUndefined();
    expect(headOf({ parentSpanId: '0'.repeat(16) }).parentSpanId).toBeUndefined();
  });

  it('an end that is never before its start', () => {
    const startUs = Number(good.startNs / 1_000n);
    expect(headOf({ endNs: 0n })).toMatchObject({ startUs, endUs: startUs });
    expect(headOf({ endNs: good.startNs - 5_000n })).toMatchObject({ startUs, endUs: startUs });
    expect(headOf({ endNs: good.startNs + 1_999n })).toMatchObject({ endUs: startUs + 1 });
  });

  it('what its service, host and agent are, the span before the resource', () => {
    expect(headOf({}, [])).toMatchObject({ service: 'unknown', host: undefined, agent: 'unknown' });
    expect(headOf({}, [['service.name', '']])).toMatchObject({ service: 'unknown' });
    expect(
      headOf({}, [
        ['host.name', 'h'],
        ['service.name', 's'],
        ['service.instance.id', 'i'],
        ['gen_ai.agent.name', 'from resource'],
      ]),
    ).toMatchObject({ service: 's', host: 'i', agent: 'from resource' });
    const named: ExportAttributes = [['gen_ai.agent.name', 'named']];
    expect(headOf({ attributes: named }, [['agent.id', 'r']])).toMatchObject({ agent: 'named' });
    expect(headOf({ attributes: [...named, ['agent.id', 7n]] })).toMatchObject({ agent: '7' });
    expect(headOf({ attributes: [...named, ['agent.id', '']] })).toMatchObject({ agent: 'named' });
  });

  it('an error with its code and message', () => {
    const status = { code: 2, message: 'no luck' };
    const exception = (type: string) => ({
      timeNs: nowNs,
      name: 'exception',
      attributes: [['exception.type', type]] as const,
    });
    const other = { ...exception('Ignored'), name: 'other' };
    const events = [exception('First'), exception('Last'), other];
    expect(headOf({ status, events })).toMatchObject({
      isError: true,
      statusMessage: 'no luck',
      errorCode: 'Last',
    });
    const attributes: ExportAttributes = [['error.code', 504n]];
    expect(headOf({ events, attributes })).toMatchObject({ isError: false, errorCode: '504' });
    expect(
      headOf({ events, attributes: [...attributes, ['error.type', 'timeout']] }).errorCode,
    ).toBe('timeout');
    const own = ['exception.type', 'Own'] as const;
    expect(headOf({ events, attributes: [own] }).errorCode).toBe('Own');
    expect(headOf({ events, attributes: [own, ...attributes] }).errorCode).toBe('504');
    expect(headOf({ status: { code: 1 } })).toMatchObject({ isError: false, errorCode: undefined });
  });

  it('which of six kinds it is; one that is unknown is unspecified', () => {
    const kinds = [0, 1, 2, 3, 4, 5, 6, 4_000_000_000].map((kind) => headOf({ kind }).kind);
    expect(kinds).toEqual([0, 1, 2, 3, 4, 5, 0, 0]);
  });

  const peer: ExportAttributes = [['server.address', 'db.local']];
  const database: ExportAttributes = [...peer, ['db.system', 'postgresql']];
  const model: ExportAttributes = [...peer, ['gen_ai.system', 'openai']];
  const callees: [kind: number, attributes: ExportAttributes, callee: unknown][] = [
    [1, database, undefined],
    [2, peer, undefined],
    [3, [], undefined],
    [3, [...peer, ['peer.service', 'auth']], { type: 'external', name: 'auth' }],
    [3, database, { type: 'database', name: 'postgresql' }],
    [3, model, { type: 'model', name: 'openai' }],
    [4, [...peer, ['messaging.system', 'kafka']], { type: 'queue', name: 'kafka' }],
  ];
  it.each(callees)('of kind %i with %j that it calls %j', (kind, attributes, callee) => {
    expect(headOf({ kind, attributes }).callee).toEqual(callee);
  });

  it('texts that a database takes: invalid UTF-8 and NUL are U+FFFD, long ones are cut', () => {
    expect(headOf({ name: 'a\0b' }).name).toBe('a\uFFFDb');
    const body = Buffer.from(exportOf([{ name: 'ok?ok' }]));
    body[body.indexOf('?')] = 0xff;
    expect(scanSpans(body, { now }).heads[0]?.name).toBe('ok\uFFFDok');
    const { agent } = headOf({ attributes: [['agent.id', `x${'é'.repeat(1_000)}`]] });
    expect(agent).toBe(`x${'é'.repeat(255)}`);
    const status = { code: 2, message: 'm'.repeat(10_000) };
    expect(headOf({ status }).statusMessage).toHaveLength(4_096);
  });
});

describe('what the attributes of a model call mean', () => {
  const cases: [whose: string, attributes: ExportAttributes, facts: object | undefined][] = [
    ['nobody', [['http.route', '/']], undefined],
    ['nobody: a chain of OpenInference', [['openinference.span.kind', 'CHAIN']], undefined],
    ['nobody: negative tokens', [['gen_ai.usage.input_tokens', -5n]], undefined],
    ['nobody: absurd tokens', [['gen_ai.usage.input_tokens', 2n ** 62n]], undefined],
    ['nobody: a list', [['gen_ai.request.model', ['a']]], undefined],
    [
      'OpenTelemetry',
      [
        ['gen_ai.request.model', 'asked'],
        ['gen_ai.response.model', 'answered'],
        ['gen_ai.provider.name', 'anthropic'],
        ['gen_ai.operation.name', 'chat'],
        ['gen_ai.usage.input_tokens', 1_200n],
        ['gen_ai.usage.output_tokens', 30n],
        ['gen_ai.usage.cache_read.input_tokens', 1_000n],
        ['gen_ai.usage.cache_creation.input_tokens', 100n],
        ['ennead.cost', 0.0125],
      ],
      {
        model: 'answered',
        provider: 'anthropic',
        operation: 'chat',
        inputTokens: 1_200,
        outputTokens: 30,
        cachedInputTokens: 1_000,
        cacheWriteTokens: 100,
        costUsd: 0.0125,
      },
    ],
    [
      'OpenTelemetry of old',
      [
        ['gen_ai.system', 'openai'],
        ['gen_ai.usage.prompt_tokens', '7'],
        ['gen_ai.usage.completion_tokens', 8.9],
      ],
      { provider: 'openai', inputTokens: 7, outputTokens: 8 },
    ],
    [
      'OpenInference',
      [
        ['openinference.span.kind', 'LLM'],
        ['llm.model_name', 'm'],
        ['llm.token_count.prompt', 1n],
        ['llm.token_count.completion', 2n],
      ],
      { operation: 'chat', model: 'm', inputTokens: 1, outputTokens: 2 },
    ],
    [
      'Langfuse',
      [
        ['langfuse.observation.type', 'generation'],
        ['langfuse.observation.model.name', 'm'],
        ['langfuse.observation.usage_details', '{"input":3,"output":4}'],
        ['langfuse.observation.cost_details', '{"total":0.5}'],
      ],
      { operation: 'chat', model: 'm', inputTokens: 3, outputTokens: 4, costUsd: 0.5 },
    ],
    [
      'Langfuse with details that are no JSON',
      [['langfuse.observation.usage_details', '{']],
      undefined,
    ],
    [
      'a tool',
      [
        ['gen_ai.operation.name', 'execute_tool'],
        ['gen_ai.tool.name', 'search'],
      ],
      { operation: 'execute_tool', tool: 'search' },
    ],
  ];
  it.each(cases)('of %s', (_, attributes, facts) => {
    expect(headOf({ attributes }).genAi).toEqual(facts);
  });
});

it('names the Fault that it throws', () => {
  expect(() => scanSpans(Buffer.from([10, 9]))).toThrow(Fault);
});
