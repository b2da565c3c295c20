import { describe, expect, it } from 'vitest';
import { encodeJsonExport } from './from-json.ts';
import { readSpans } from './read.ts';
import { scanSpans } from './scan.ts';

const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';

const good = { traceId, spanId, name: 'n', startTimeUnixNano: '1544712660000000000' };

function bodyOf(span: object): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...good, ...span }] }] }] });
}

function valueOf(value: unknown): unknown {
  const body = encodeJsonExport(bodyOf({ attributes: [{ key: 'a', value }] }));
  return readSpans([body], traceId)[0]?.attributes['a'];
}

describe('a body that is no OTLP/JSON is refused, naming the field', () => {
  const inSpan = 'resourceSpans[0].scopeSpans[0].spans[0]';
  const attribute = (value: unknown) => bodyOf({ attributes: [{ key: 'a', value }] });
  const inValue = `${inSpan}.attributes[0].value`;
  const cases: [what: string, body: string, message: string][] = [
    ['no JSON', '{', 'The body is not valid JSON.'],
    ['nothing', '', 'The body is not valid JSON.'],
    ['a list', '[]', 'The body is not an object.'],
    ['null', 'null', 'The body is not an object.'],
    ['resourceSpans', '{"resourceSpans":{}}', 'resourceSpans is not a list.'],
    ['an empty place', '{"resourceSpans":[null]}', 'resourceSpans[0] is not an object.'],
    ['trace id', bodyOf({ traceId: 'xyz' }), `${inSpan}.traceId is not hexadecimal.`],
    ['half a byte', bodyOf({ spanId: 'abc' }), `${inSpan}.spanId is not hexadecimal.`],
    ['name', bodyOf({ name: 7 }), `${inSpan}.name is not a text.`],
    ['kind', bodyOf({ kind: 'SERVER' }), `${inSpan}.kind is not a known name.`],
    ['kind toString', bodyOf({ kind: 'toString' }), `${inSpan}.kind is not a known name.`],
    [
      'time',
      bodyOf({ startTimeUnixNano: '-1' }),
      `${inSpan}.startTimeUnixNano is not an unsigned 64-bit number.`,
    ],
    ['half', bodyOf({ endTimeUnixNano: 0.5 }), `${inSpan}.endTimeUnixNano is not a whole number.`],
    ['flags', bodyOf({ flags: 2 ** 32 }), `${inSpan}.flags is not an unsigned 32-bit number.`],
    ['events', bodyOf({ events: 'x' }), `${inSpan}.events is not a list.`],
    ['status', bodyOf({ status: [] }), `${inSpan}.status is not an object.`],
    ['a bare value', attribute('x'), `${inValue} is not an object.`],
    ['text', attribute({ stringValue: 1 }), `${inValue}.stringValue is not a text.`],
    ['bool', attribute({ boolValue: 'true' }), `${inValue}.boolValue is not a boolean.`],
    ['int', attribute({ intValue: '1.5' }), `${inValue}.intValue is not a whole number.`],
    [
      'int beyond 64 bits',
      attribute({ intValue: '9223372036854775808' }),
      `${inValue}.intValue is not a 64-bit number.`,
    ],
    ['double', attribute({ doubleValue: 'abc' }), `${inValue}.doubleValue is not a number.`],
    ['bytes', attribute({ bytesValue: '***' }), `${inValue}.bytesValue is not base64.`],
    ['two values', attribute({ intValue: 1, stringValue: 'x' }), `${inValue} is not one value.`],
    [
      'deep inside',
      attribute({ arrayValue: { values: [{}, { kvlistValue: { values: [{ key: 1 }] } }] } }),
      `${inValue}.arrayValue.values[1].kvlistValue.values[0].key is not a text.`,
    ],
  ];
  it.each(cases)('%s', (_, body, message) => {
    expect(() => encodeJsonExport(body)).toThrow(
      expect.objectContaining({ code: 'invalid', reason: 'malformed_json', message }),
    );
  });
});

it('a span that breaks a rule goes on, for the scanner to reject', () => {
  const rejectionOf = (span: object) =>
    scanSpans(encodeJsonExport(bodyOf({ ...span, endTimeUnixNano: 0 }))).rejection;
  expect(rejectionOf({ traceId: null })).toMatch(/trace id/);
  expect(rejectionOf({ spanId: 'ab' })).toMatch(/span id/);
  expect(rejectionOf({ startTimeUnixNano: null })).toMatch(/start time/);
  let value: object = { stringValue: 'leaf' };
  for (let depth = 0; depth < 3_000; depth += 1) value = { arrayValue: { values: [value] } };
  expect(rejectionOf({ attributes: [{ key: 'a', value }] })).toMatch(/deeper/);
});

it('reads protobuf names, either case, numbers as texts, names of enums, and null as absent', () => {
  const snake = JSON.stringify({
    resource_spans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { string_value: 'shop' } }] },
        schema_url: null,
        unknown: { field: [1] },
        scope_spans: [
          {
            scope: null,
            spans: [
              {
                trace_id: traceId.toUpperCase(),
                span_id: spanId.toUpperCase(),
                parent_span_id: null,
                name: 'n',
                kind: 'SPAN_KIND_CLIENT',
                start_time_unix_nano: 1_544_712_660_000_000_000,
                end_time_unix_nano: '1544712661000000000',
                attributes: [{ key: 'n', value: { int_value: 7 } }],
                dropped_attributes_count: '3',
                events: null,
                status: { code: 'STATUS_CODE_ERROR', message: 'no' },
              },
            ],
          },
        ],
      },
    ],
  });
  const spans = readSpans([encodeJsonExport(Buffer.from(snake))], traceId);
  expect(spans).toMatchObject([
    {
      traceId,
      spanId,
      parentSpanId: undefined,
      service: 'shop',
      kind: 3,
      startUs: 1_544_712_660_000_000,
      endUs: 1_544_712_661_000_000,
      isError: true,
      statusMessage: 'no',
      attributes: { n: 7 },
      events: [],
    },
  ]);
});

const values: [value: object, read: unknown][] = [
  [{ intValue: '-9223372036854775808' }, '-9223372036854775808'],
  [{ intValue: -5 }, -5],
  [{ intValue: 0 }, 0],
  [{ doubleValue: 7 }, 7],
  [{ doubleValue: '1e3' }, 1_000],
  [{ doubleValue: 'NaN' }, 'NaN'],
  [{ boolValue: false }, false],
  [{ bytesValue: '_-8' }, '/+8='],
  [{ stringValue: '' }, ''],
  [{ stringValue: 'half a pair: \uD800' }, 'half a pair: \uFFFD'],
  [{ stringValue: null }, null],
  [{}, null],
  [{ arrayValue: {} }, []],
  [{ kvlistValue: { values: [{ key: 'k' }] } }, { k: null }],
];
it.each(values)('the value %j is read as %j', (value, read) => {
  expect(valueOf(value)).toEqual(read);
});
