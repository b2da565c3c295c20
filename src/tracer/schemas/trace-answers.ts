import { Type, type Static } from 'typebox';
import { AnyKey } from '../../kit/any-key.ts';

const timestamp = Type.String({ format: 'date-time' });
const durationMs = Type.Integer({ description: 'milliseconds' });
const status = Type.Enum(['success', 'error', 'timeout']);
const attributes = Type.Record(AnyKey, Type.Unknown());
const percent = Type.Number({ description: 'percent of the trace’s duration' });

/** What a trace failed of: its deepest failing span. */
export const traceError = Type.Object(
  { code: Type.String(), message: Type.String(), spanId: Type.String(), agent: Type.String() },
  { $id: 'TraceError' },
);

/** Everything of a trace's facts but its spans. */
export const traceFacts = {
  traceId: Type.String(),
  name: Type.String({ description: 'of its root' }),
  startTime: timestamp,
  endTime: timestamp,
  duration: durationMs,
  status,
  agents: Type.Array(Type.String()),
  tags: attributes,
  error: Type.Optional(traceError),
};

const spanEvent = Type.Object(
  { name: Type.String(), time: timestamp, attributes },
  { $id: 'SpanEvent' },
);

const spanLink = Type.Object(
  { traceId: Type.String(), spanId: Type.String(), attributes },
  { $id: 'SpanLink' },
);

const traceSpan = Type.Object(
  {
    spanId: Type.String(),
    parentSpanId: Type.Optional(Type.String()),
    name: Type.String(),
    service: Type.String(),
    agent: Type.String(),
    kind: Type.Enum(['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']),
    startTime: timestamp,
    duration: durationMs,
    offsetUs: Type.Integer({ description: 'microseconds after the trace’s start' }),
    durationUs: Type.Integer({ description: 'microseconds' }),
    selfTime: Type.Integer({ description: 'milliseconds that no child covers' }),
    onCriticalPath: Type.Boolean(),
    status,
    statusMessage: Type.Optional(Type.String()),
    tags: attributes,
    events: Type.Optional(Type.Array(spanEvent)),
    links: Type.Optional(Type.Array(spanLink)),
  },
  { $id: 'TraceSpan' },
);

const clockSkew = Type.Object(
  {
    from: Type.String({ description: 'the host whose clock was kept' }),
    to: Type.String({ description: 'the host whose times were moved' }),
    offsetUs: Type.Integer({ description: 'microseconds that were added to the times of `to`' }),
    pairs: Type.Integer({ description: 'calls between the two that it was taken from' }),
  },
  { $id: 'ClockSkew' },
);

const genAiUsage = Type.Object(
  {
    inputTokens: Type.Integer(),
    outputTokens: Type.Integer(),
    costUsd: Type.Number({ description: 'US dollars, of the calls whose cost is known' }),
    models: Type.Array(Type.String()),
    tools: Type.Array(Type.String()),
  },
  { $id: 'GenAiUsage' },
);

/** A whole trace. */
export const traceDetail = Type.Object(
  {
    ...traceFacts,
    spans: Type.Array(traceSpan, { description: 'by start; a page of them where they are many' }),
    totalSpans: Type.Integer({ description: 'of all pages' }),
    metrics: Type.Object(
      {
        totalDuration: durationMs,
        networkTime: durationMs,
        processingTime: durationMs,
        overhead: durationMs,
      },
      { description: '`totalDuration` is `duration`; the other three add up to it' },
    ),
    genAi: Type.Optional(genAiUsage),
    clockSkew: Type.Optional(
      Type.Array(clockSkew, {
        description:
          'present where times of spans were moved because clocks contradict each other; the trace’s own are those that were sent',
      }),
    ),
    isComplete: Type.Boolean({ description: 'false while spans may still come' }),
    revision: Type.Integer({ description: 'grows when spans come after it was complete' }),
  },
  { $id: 'TraceDetail' },
);

/** What decided how long a trace took. */
export const criticalPath = Type.Object(
  {
    traceId: Type.String(),
    criticalPath: Type.Array(
      Type.Object({
        spanId: Type.String(),
        name: Type.String(),
        service: Type.String(),
        agent: Type.String(),
        duration: Type.Integer({ description: 'milliseconds on the path' }),
        percentOfTotal: percent,
        isAsync: Type.Optional(
          Type.Boolean({
            description:
              'true where the path follows it after the root had ended: nobody waited for it there',
          }),
        ),
      }),
      { description: 'each span once, in the order in which the path reaches them' },
    ),
    totalDuration: Type.Integer({
      description:
        'milliseconds, as the trace’s `duration`; the entries and `uninstrumented` add up to it',
    }),
    criticalPathDuration: Type.Integer({ description: 'milliseconds; the entries add up to it' }),
    percentOfTotal: percent,
    uninstrumented: Type.Optional(
      Type.Integer({
        description:
          'milliseconds in which no span ran: between roots, after the root until its work goes on, or by clocks that contradict each other',
      }),
    ),
    queueWait: Type.Optional(
      Type.Integer({
        description: 'milliseconds of `uninstrumented` that a message lay in a queue',
      }),
    ),
  },
  { $id: 'CriticalPath' },
);

export type TraceDetail = Static<typeof traceDetail>;
export type TraceSpan = Static<typeof traceSpan>;
export type GenAiUsage = Static<typeof genAiUsage>;
export type CriticalPathAnswer = Static<typeof criticalPath>;
