import { Type, type TSchema } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { documentBytesMax } from '../interop/document.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer } from '../../kit/paging.ts';

const reading = 'tracer:read';
const writing = 'tracer:write';

const imported = Type.Object(
  {
    format: Type.Enum(['otlp', 'zipkin', 'jaeger'], { description: 'what the document was' }),
    traces: Type.Integer({ description: 'how many traces the spans belong to' }),
    spans: Type.Integer({ description: 'how many spans were stored' }),
    rejected: Type.Integer({ description: 'how many spans were not' }),
    reason: Type.Optional(Type.String({ description: 'why, of the first that was not' })),
  },
  { $id: 'ImportedTraces' },
);

const jaegerError = Type.Object({
  code: Type.Integer(),
  msg: Type.String(),
  traceID: Type.Optional(Type.String()),
});

/** Every answer of Jaeger's query API. */
const jaegerAnswer = <T extends TSchema>(data: T) =>
  Type.Object({
    data,
    ...pageAnswer,
    errors: Type.Union([Type.Array(jaegerError), Type.Null()]),
  });

const jaegerTag = Type.Object({ key: Type.String(), type: Type.String(), value: Type.Unknown() });
const jaegerTags = Type.Array(jaegerTag);

const jaegerTrace = Type.Object(
  {
    traceID: Type.String(),
    spans: Type.Array(
      Type.Object({
        traceID: Type.String(),
        spanID: Type.String(),
        flags: Type.Integer(),
        operationName: Type.String(),
        references: Type.Array(
          Type.Object({
            refType: Type.Enum(['CHILD_OF', 'FOLLOWS_FROM']),
            traceID: Type.String(),
            spanID: Type.String(),
          }),
        ),
        startTime: Type.Integer({ description: 'microseconds since the epoch' }),
        duration: Type.Integer({ description: 'microseconds' }),
        tags: jaegerTags,
        logs: Type.Array(Type.Object({ timestamp: Type.Integer(), fields: jaegerTags })),
        processID: Type.String(),
        warnings: Type.Union([Type.Array(Type.String()), Type.Null()]),
      }),
    ),
    processes: Type.Record(AnyKey, Type.Object({ serviceName: Type.String(), tags: jaegerTags })),
    warnings: Type.Null(),
  },
  { $id: 'JaegerTrace' },
);

const jaegerTraces = jaegerAnswer(Type.Array(jaegerTrace));

/** Clients send empty texts, and some parameters several times: the handler reads them. */
const texts = (description: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })], { description }),
  );

const traceParams = Type.Object({
  traceId: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'hexadecimal digits; leading zeros may be left out',
  }),
});

const jaegerSearch = Type.Object({
  service: texts('only traces with a span of this service'),
  operation: texts('… and of this name'),
  tags: texts('a JSON object: … and with all of these tags, values as texts'),
  tag: texts('`key:value`, any number of times: the same'),
  start: texts('microseconds since the epoch; the span begins then or later'),
  end: texts('microseconds since the epoch; the span begins then or earlier'),
  lookback: texts('`1h`, `2d`: in place of start; 48h when both are absent'),
  minDuration: texts('`1.5s`, `200ms`: of the span'),
  maxDuration: texts('of the span'),
  limit: texts('at most so many traces, the newest; 20, at most 1500'),
  traceID: texts('any number of times: these traces, and nothing else is looked at'),
});

/** The routes that speak Zipkin's and Jaeger's formats. */
export const interopRoutes = {
  importTraces: {
    method: 'POST',
    url: '/api/v1/traces/import',
    summary: 'Take traces from a file of Jaeger, Zipkin or OpenTelemetry',
    description:
      'What it is shows by its shape: a list of Zipkin v2 spans, Jaeger’s JSON (`{data: [{spans, processes}]}` or one such trace), or OTLP/JSON (`{resourceSpans}`). It may be gzipped. Taking the same document twice changes nothing but the traces’ `revision`.',
    permission: writing,
    takesBytes: true,
    bodyBytesMax: documentBytesMax,
    schema: { response: { 200: imported } },
  },
  receiveZipkinSpans: {
    method: 'POST',
    url: '/api/v2/spans',
    summary: 'Take spans from a Zipkin client',
    description:
      'A list of Zipkin v2 spans in JSON, gzipped or not; the answer has no body. Spans that are rejected one by one are left out silently, as Zipkin does.',
    permission: writing,
    rateLimit: 'none',
    trace: 'none',
    takesBytes: true,
    bodyBytesMax: documentBytesMax,
    schema: { response: { 202: Type.Unknown() } },
  },
  exportTrace: {
    method: 'GET',
    url: '/api/v1/traces/:traceId/export',
    summary: 'Give a trace in a format of others',
    description:
      '`otlp` is OTLP/JSON and loses nothing; `jaeger` is what Jaeger UI opens as a JSON file.',
    permission: reading,
    schema: {
      params: traceParams,
      query: Type.Object({
        format: Type.Enum(['otlp', 'jaeger'], {
          default: 'otlp',
          description: 'what the document is to be',
        }),
      }),
      response: { 200: Type.Unknown() },
    },
  },
  listJaegerServices: {
    method: 'GET',
    url: '/api/services',
    summary: 'Jaeger: list services',
    permission: reading,
    schema: { response: { 200: jaegerAnswer(Type.Array(Type.String())) } },
  },
  listJaegerServiceOperations: {
    method: 'GET',
    url: '/api/services/:service/operations',
    summary: 'Jaeger: list the names of a service’s operations',
    permission: reading,
    schema: {
      params: Type.Object({
        service: Type.String({ maxLength: 1024, description: 'the name of a service' }),
      }),
      response: { 200: jaegerAnswer(Type.Array(Type.String())) },
    },
  },
  listJaegerOperations: {
    method: 'GET',
    url: '/api/operations',
    summary: 'Jaeger: list a service’s operations with their kinds',
    permission: reading,
    schema: {
      query: Type.Object({
        service: texts('the service, which must be named'),
        spanKind: texts('`server`, `client`, `producer`, `consumer` or `internal`'),
      }),
      response: {
        200: jaegerAnswer(
          Type.Array(Type.Object({ name: Type.String(), spanKind: Type.String() })),
        ),
      },
    },
  },
  searchJaegerTraces: {
    method: 'GET',
    url: '/api/traces',
    summary: 'Jaeger: search traces',
    description:
      'A trace is found when one span of it is all that is asked for. The newest 1000 traces that come into question are looked into; when there were more, or the answer became too large, `truncated` is true.',
    permission: reading,
    schema: {
      query: jaegerSearch,
      response: {
        200: Type.Intersect([
          jaegerTraces,
          Type.Object({ truncated: Type.Optional(Type.Boolean()) }),
        ]),
      },
    },
  },
  readJaegerTrace: {
    method: 'GET',
    url: '/api/traces/:traceId',
    summary: 'Jaeger: read a trace',
    permission: reading,
    schema: { params: traceParams, response: { 200: jaegerTraces } },
  },
  listJaegerDependencies: {
    method: 'GET',
    url: '/api/dependencies',
    summary: 'Jaeger: list which service calls which',
    permission: reading,
    schema: {
      query: Type.Object({
        endTs: texts('milliseconds since the epoch; now when absent'),
        lookback: texts('milliseconds before it; a day when absent'),
        service: texts('only calls from or to this service'),
      }),
      response: {
        200: jaegerAnswer(
          Type.Array(
            Type.Object({
              parent: Type.String(),
              child: Type.String(),
              callCount: Type.Integer(),
            }),
          ),
        ),
      },
    },
  },
} as const satisfies Record<string, Route>;
