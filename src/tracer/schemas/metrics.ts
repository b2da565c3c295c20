import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageQuery } from '../../kit/paging.ts';

const reading = 'tracer:read';

const timeRange = Type.Enum(['1h', '24h', '7d', '30d'], {
  default: '24h',
  description: 'how far back, from now on',
});
const rate = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const count = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description });
const milliseconds = Type.Number({ description: 'milliseconds, to the microsecond' });
const time = Type.String({ format: 'date-time' });
const startTime = Type.String({
  format: 'date-time',
  description: 'where what is counted begins; of `30d` with a whole hour',
});
const rangeFields = { timeRange: Type.String(), startTime, endTime: time };

const metricFields = {
  totalRequests: count('traces, each counted by its root'),
  successRate: rate('0..1'),
  averageDuration: milliseconds,
  p50Duration: milliseconds,
  p95Duration: milliseconds,
  p99Duration: milliseconds,
  errorRate: rate('0..1; a timeout is an error'),
  throughput: Type.Number({ description: 'requests a second over the time' }),
};

const aggregatedMetrics = Type.Object(
  {
    ...rangeFields,
    aggregations: Type.Array(
      Type.Object({
        key: Type.String({ description: 'the agent, the operation or the status' }),
        metrics: Type.Object(metricFields),
      }),
    ),
    total: count('entries without `limit`'),
  },
  { $id: 'AggregatedMetrics' },
);

const metricTimeline = Type.Object(
  {
    timeRange: Type.String(),
    startTime: Type.String({ format: 'date-time', description: 'where the first step begins' }),
    endTime: time,
    stepSeconds: count('of 1h 60, of 24h 3,600, of 7d 21,600, of 30d 86,400'),
    points: Type.Array(Type.Object({ startTime: time, ...metricFields }), {
      description: 'one for each step that begins within the range, by time; the last is not over',
    }),
  },
  { $id: 'MetricTimeline' },
);

const errorDistribution = Type.Object(
  {
    ...rangeFields,
    totalErrors: count('failed traces'),
    errorRate: rate('failed traces among all, 0..1'),
    errorsByType: Type.Array(
      Type.Object({
        errorCode: Type.String(),
        count: count(),
        percentage: Type.Number({ description: 'of all errors, 0..100' }),
        affectedAgents: Type.Array(Type.String(), {
          description: 'whose spans failed, the most often affected first; at most 100',
        }),
      }),
    ),
    recommendations: Type.Array(Type.String()),
  },
  { $id: 'ErrorDistribution' },
);

const usageSums = {
  calls: count('of models'),
  inputTokens: count(),
  outputTokens: count(),
  costUsd: Type.Number({ description: 'US dollars, of the priced calls' }),
  pricedCalls: count('whose cost the spans told, or the public price list of their model'),
};

const modelUsage = Type.Object(
  {
    ...rangeFields,
    groupBy: Type.String(),
    usage: Type.Array(Type.Object({ key: Type.String(), ...usageSums })),
    totals: Type.Object(usageSums),
  },
  { $id: 'ModelUsage' },
);

const dependencyGraph = Type.Object(
  {
    ...rangeFields,
    nodes: Type.Array(
      Type.Object({
        serviceId: Type.String({ description: 'what edges name it by' }),
        serviceName: Type.String(),
        requestsHandled: count(),
        errorRate: rate('0..1'),
        type: Type.String({
          description: '`service`, or of what is outside `model`, `database`, `queue`, `external`',
        }),
      }),
    ),
    edges: Type.Array(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        requests: count(),
        averageLatency: Type.Number({
          description: 'milliseconds that the callee took, to the microsecond',
        }),
        p95Latency: milliseconds,
        errorRate: rate('0..1'),
      }),
    ),
  },
  { $id: 'DependencyGraph' },
);

const liveMetrics = Type.Object(
  {
    timestamp: time,
    metrics: Type.Object({
      requestsPerSecond: Type.Number(),
      averageLatency: milliseconds,
      errorRate: rate('0..1'),
      activeTraces: count('to which spans may still come'),
      queuedRequests: count('exports that wait to be stored'),
    }),
    topAgents: Type.Array(
      Type.Object({
        agentId: Type.String(),
        requestsPerSecond: Type.Number(),
        averageLatency: milliseconds,
      }),
    ),
  },
  { $id: 'LiveMetrics' },
);

const errorLog = Type.Object(
  {
    timeRange: Type.String(),
    errors: Type.Array(
      Type.Object({
        timestamp: Type.String({ format: 'date-time', description: 'when the trace started' }),
        traceId: Type.String(),
        spanId: Type.String({ description: 'the deepest span that failed' }),
        code: Type.String(),
        message: Type.String(),
        agent: Type.String(),
        name: Type.String({ description: 'of the trace' }),
        service: Type.String({ description: 'of its root' }),
      }),
    ),
    total: count(),
    limit: count(),
    offset: count(),
  },
  { $id: 'ErrorLog' },
);

const filter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 512, description }));

/** The routes that add traces up. */
export const metricRoutes = {
  aggregateMetrics: {
    method: 'GET',
    url: '/api/v1/metrics/aggregate',
    summary: 'Add up the traces of a range by agent, operation or status',
    description: 'Percentiles are right within 1 %, whatever the range.',
    permission: reading,
    schema: {
      query: Type.Object({
        timeRange,
        groupBy: Type.Enum(['agent', 'operation', 'status'], {
          default: 'operation',
          description: 'what traces are put together by',
        }),
        metric: Type.Enum(['duration', 'throughput', 'errors'], {
          default: 'throughput',
          description: 'what comes first: the slowest, the most frequent, or what failed most',
        }),
        limit: Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 1_000,
          description: 'at most so many groups',
        }),
      }),
      response: { 200: aggregatedMetrics },
    },
  },
  metricTimeline: {
    method: 'GET',
    url: '/api/v1/metrics/timeline',
    summary: 'Say how a range went, step by step',
    description:
      'Of all traces, or of the one agent, operation or status that `key` names. Steps begin with a whole minute, hour, quarter of a day or day of UTC. Percentiles are right within 1 %.',
    permission: reading,
    schema: {
      query: Type.Object({
        timeRange,
        groupBy: Type.Enum(['agent', 'operation', 'status'], {
          default: 'operation',
          description: 'what `key` is',
        }),
        key: filter('only traces of this agent, operation or status'),
      }),
      response: { 200: metricTimeline },
    },
  },
  liveMetrics: {
    method: 'GET',
    url: '/api/v1/metrics/live',
    summary: 'Say what the last minute was like',
    permission: reading,
    schema: { response: { 200: liveMetrics } },
  },
  errorMetrics: {
    method: 'GET',
    url: '/api/v1/metrics/errors',
    summary: 'Count failed traces by their error',
    permission: reading,
    schema: { query: Type.Object({ timeRange }), response: { 200: errorDistribution } },
  },
  usageMetrics: {
    method: 'GET',
    url: '/api/v1/metrics/usage',
    summary: 'Add up what calls of models took: tokens and money',
    permission: reading,
    schema: {
      query: Type.Object({
        timeRange,
        groupBy: Type.Enum(['agent', 'provider', 'model'], {
          default: 'model',
          description: 'what calls of models are put together by',
        }),
      }),
      response: { 200: modelUsage },
    },
  },
  dependencies: {
    method: 'GET',
    url: '/api/v1/dependencies',
    summary: 'Say which service called which, and what is outside',
    permission: reading,
    schema: { query: Type.Object({ timeRange }), response: { 200: dependencyGraph } },
  },
  listErrors: {
    method: 'GET',
    url: '/api/v1/errors',
    summary: 'List failed traces of the last thirty days, the latest first',
    description: 'The log outlives the traces, which are kept for seven days.',
    permission: reading,
    schema: {
      query: Type.Object({
        timeRange,
        code: filter('only failures with this code'),
        agentId: filter('only failures of this agent'),
        ...pageQuery(),
      }),
      response: { 200: errorLog },
    },
  },
} as const satisfies Record<string, Route>;
