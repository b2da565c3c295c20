import { Type, type Static } from 'typebox';
import { AnyKey } from '../../kit/any-key.ts';

const ms = (description: string) => Type.Integer({ description: `milliseconds ${description}` });
const percentOfTrace = Type.Number({ description: 'percent of the trace’s duration' });
const durationMs = Type.Integer({ description: 'milliseconds' });
const named = { name: Type.String(), service: Type.String(), agent: Type.String() };

const shapeNames = [
  'n-plus-one',
  'serial-calls',
  'retry',
  'queue-wait',
  'client-server-gap',
  'long-output',
  'slow-database',
  'cold-start',
] as const;

const bottleneck = Type.Object(
  {
    spanId: Type.String({ description: 'of a shape: its heaviest span' }),
    ...named,
    duration: ms('of the span; of a shape: of all that it is about, its waits too'),
    expectedDuration: ms(
      'that its operation takes in the median: of its own history, else of this trace alone, where it may be the span’s own duration; of a shape: what would remain',
    ),
    slowdownFactor: Type.Number({
      description: '`duration` by `expectedDuration`; 1 where nothing says that it is slow',
    }),
    basis: Type.Enum(['history', 'trace'], {
      description: '`history`: at least 30 spans of the last 24 hours, else of the last 7 days',
    }),
    reason: Type.Enum(['error', 'slow', 'share', ...shapeNames], {
      description:
        '`error`: it failed, and none of its children did; `slow`: its own work took unusually long; `share`: its own work is more than half of the trace, and too little is known of its operation; else the shape that it stands for',
    }),
    severity: Type.Enum(['low', 'medium', 'high', 'critical'], {
      description:
        'how unusual it is and how much of the trace it costs; at most `medium` without a history, and `low` off the critical path. Of a shape: what of the trace it would save, `medium` from 10 %, `high` from 30 %, `critical` from 60 %',
    }),
    savingMs: ms('that the trace would be shorter were the span as expected, at most'),
    percentOfTrace: Type.Number({
      description:
        'percent of the trace’s duration that its own work takes of the critical path; of a shape: that all of it takes',
    }),
    onCriticalPath: Type.Boolean(),
    recommendations: Type.Array(Type.String()),
  },
  { $id: 'Bottleneck' },
);

const shape = Type.Object(
  {
    shape: Type.Enum([...shapeNames]),
    spanIds: Type.Array(Type.String(), { description: 'by start; the first 20' }),
    spans: Type.Integer({ description: 'how many there are' }),
    savingMs: ms('that the trace would be shorter without it, at most'),
    percentOfTrace,
    evidence: Type.Record(AnyKey, Type.Unknown(), {
      description: 'the figures by which it was recognised; those in `…Ms` are milliseconds',
    }),
    recommendation: Type.String(),
  },
  { $id: 'TraceShape' },
);

/** Where a trace lost its time. */
export const bottlenecks = Type.Object(
  {
    traceId: Type.String(),
    bottlenecks: Type.Array(bottleneck, {
      description: 'the one that costs most first; at most 100',
    }),
    totalBottlenecks: Type.Integer({ description: 'how many there are' }),
    overallPerformance: Type.Enum(['good', 'degraded', 'poor'], {
      description:
        'by the worst bottleneck: `poor` from `high` on, `degraded` with `medium`; never `good` when the trace failed',
    }),
    totalDuration: durationMs,
    shapes: Type.Array(shape, { description: 'the one that costs most first; at most 50' }),
    totalShapes: Type.Integer({ description: 'how many there are' }),
    isComplete: Type.Boolean({ description: 'false while spans may still come' }),
  },
  { $id: 'Bottlenecks' },
);

/** A supposition about a trace: what it is about, and how much faster. */
export const change = {
  spanId: Type.Optional(
    Type.String({ pattern: '^[0-9a-fA-F]{16}$', description: '16 hexadecimal digits' }),
  ),
  service: Type.Optional(Type.String({ description: 'every span of the service' })),
  operation: Type.Optional(Type.String({ description: 'every span of this name' })),
  factor: Type.Number({
    minimum: 0.001,
    maximum: 1_000_000,
    description: 'how many times as fast; below 1 is slower',
  }),
};
/** What of a span a supposition is about. */
export const extent = Type.Enum(['whole', 'own'], {
  default: 'whole',
  description: '`whole`: the span with everything below it; `own`: its own work only',
});

/** A trace as it would have been. */
export const whatIf = Type.Object(
  {
    traceId: Type.String(),
    totalDuration: ms('of the trace, as its `duration`'),
    projectedDuration: durationMs,
    saving: ms('; negative where the trace would be longer'),
    percentSaved: percentOfTrace,
    changes: Type.Array(
      Type.Object({
        ...change,
        extent,
        spans: Type.Integer({ description: 'how many spans it names' }),
      }),
    ),
    criticalPath: Type.Array(
      Type.Object({
        spanId: Type.String(),
        ...named,
        duration: ms('on the path now'),
        projectedDuration: ms('on the path then'),
      }),
      { description: 'of the projection; those with most of it, at most 20' },
    ),
  },
  { $id: 'WhatIf' },
);

const comparedTrace = Type.Object({
  traceId: Type.String(),
  name: Type.String(),
  startTime: Type.String({ format: 'date-time' }),
  duration: durationMs,
  status: Type.Enum(['success', 'error', 'timeout']),
  spans: Type.Integer(),
});

const placeSums = Type.Object({
  count: Type.Integer(),
  errors: Type.Integer(),
  duration: ms('of all its spans together'),
  selfTime: durationMs,
  onCriticalPath: ms('of the critical path'),
});

/** Two traces beside each other. */
export const traceComparison = Type.Object(
  {
    base: comparedTrace,
    other: comparedTrace,
    difference: ms('that the other one takes longer'),
    explanation: Type.Object(
      {
        operations: Type.Array(
          Type.Object({
            service: Type.String(),
            name: Type.String(),
            baseCount: Type.Integer(),
            otherCount: Type.Integer(),
            change: ms('more on the critical path'),
            percentOfDifference: Type.Number(),
          }),
          { description: 'what changed most first; at most 50' },
        ),
        rest: ms('of all other operations'),
        uninstrumented: ms('more in which no span ran'),
      },
      { description: 'changes, rest and uninstrumented add up to `difference`' },
    ),
    spans: Type.Array(
      Type.Object({
        service: Type.String(),
        name: Type.String(),
        path: Type.Array(Type.String(), {
          description: 'the names above it, from the root; the nearest ten',
        }),
        isPathCut: Type.Boolean(),
        change: Type.Enum(['added', 'removed', 'changed', 'same']),
        base: Type.Optional(placeSums),
        other: Type.Optional(placeSums),
        durationChange: durationMs,
        criticalPathChange: durationMs,
      }),
      {
        description:
          'spans with the same services and names from the root down, together; what changed most first, at most 200',
      },
    ),
    totalSpans: Type.Integer({ description: 'how many such places there are' }),
  },
  { $id: 'TraceComparison' },
);

const measuredRange = Type.Object({
  startTime: Type.String({
    format: 'date-time',
    description: 'where what is counted begins: what was asked for, rounded outwards',
  }),
  endTime: Type.String({ format: 'date-time', description: 'where it ends' }),
  spans: Type.Integer(),
  errorRate: Type.Number({ description: '0..1' }),
});

const operationWindow = Type.Object({
  count: Type.Integer(),
  errorRate: Type.Number({ description: '0..1' }),
  averageDuration: durationMs,
  p50Duration: durationMs,
  p95Duration: durationMs,
});

const significance = Type.Enum(['significant', 'insignificant', 'too-few'], {
  description:
    'whether it is more than chance (three standard errors); `too-few`: below 30 spans in one of the ranges',
});

/** Two ranges of time beside each other. */
export const windowComparison = Type.Object(
  {
    base: measuredRange,
    other: measuredRange,
    work: Type.Object(
      {
        change: durationMs,
        bySpeed: ms('because calls take longer'),
        byVolume: ms('because there are more calls'),
      },
      { description: 'of all spans’ self time, a base as long as the other range supposed' },
    ),
    operations: Type.Array(
      Type.Object({
        service: Type.String(),
        name: Type.String(),
        kind: Type.String(),
        base: Type.Optional(operationWindow),
        other: Type.Optional(operationWindow),
        percentSlower: Type.Optional(Type.Number({ description: 'by the median' })),
        durationChange: significance,
        errorRateChange: significance,
        workChange: durationMs,
        workBySpeed: durationMs,
      }),
      { description: 'what changed the work most first; at most 200' },
    ),
    totalOperations: Type.Integer({ description: 'how many there are' }),
  },
  { $id: 'WindowComparison' },
);

export type BottlenecksAnswer = Static<typeof bottlenecks>;
export type WhatIfAnswer = Static<typeof whatIf>;
export type TraceComparison = Static<typeof traceComparison>;
export type WindowComparisonAnswer = Static<typeof windowComparison>;
