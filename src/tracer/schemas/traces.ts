import { Type, type Static } from 'typebox';
import { healthRoute, type Route, type SocketRoute } from '../../kit/contract.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';
import { askedTime } from '../../kit/time/asked-time.ts';
import { criticalPath, traceDetail, traceFacts } from './trace-answers.ts';

const Milliseconds = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Time = Type.String({ format: 'date-time' });
const Raw = Type.Boolean({ description: 'times as they were sent, though clocks contradict' });
const Status = Type.Enum(['success', 'error', 'timeout']);

/** A trace as listings tell it. */
export const traceSummary = Type.Object(
  {
    ...traceFacts,
    spans: Type.Integer({ description: 'how many' }),
    service: Type.String({ description: 'of its root' }),
    isComplete: Type.Boolean({ description: 'false while spans may still come' }),
    bottlenecks: Type.Optional(Type.Integer()),
    genAi: Type.Optional(
      Type.Object({
        inputTokens: Type.Integer(),
        outputTokens: Type.Integer(),
        costUsd: Type.Number(),
      }),
    ),
  },
  { $id: 'TraceSummary' },
);
export type TraceSummaryAnswer = Static<typeof traceSummary>;

const listQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: 'at most so many traces',
    }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'from 1' })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'instead of `page`' }),
  ),
  agentId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'traces with a span of this agent' }),
  ),
  status: Type.Optional({ ...Status, description: 'only traces that ended so' }),
  startTime: Type.Optional(askedTime),
  endTime: Type.Optional(askedTime),
  minDuration: Type.Optional({ ...Milliseconds, description: 'in milliseconds' }),
  maxDuration: Type.Optional({ ...Milliseconds, description: 'in milliseconds' }),
  name: Type.Optional(Type.String({ maxLength: 4_096, description: "the root's name" })),
  service: Type.Optional(Type.String({ maxLength: 512, description: "the root's service" })),
});
export type ListQuery = Static<typeof listQuery>;

const traceParams = Type.Object({
  traceId: Type.String({ pattern: '^[0-9a-fA-F]{32}$', description: '32 hexadecimal digits' }),
});

/** Traces one by one, and how the service does. */
export const traceRoutes = {
  listTraces: {
    method: 'GET',
    url: '/api/v1/traces',
    summary: 'List traces, the newest first',
    permission: 'tracer:read',
    schema: {
      query: listQuery,
      response: {
        200: Type.Object({
          traces: Type.Array(traceSummary),
          total: Type.Integer({ description: 'counted up to 10,000 where there is a filter' }),
          isTotalCapped: Type.Optional(Type.Boolean({ description: 'true when there are more' })),
          page: Type.Integer({ description: 'from 1' }),
          pageSize: Type.Integer(),
          errorRate: Type.Optional(
            Type.Number({
              description: 'with `status=error`: of all that match but for their status, 0..1',
            }),
          ),
        }),
      },
    },
  },
  getTrace: {
    method: 'GET',
    url: '/api/v1/traces/:traceId',
    summary: 'Read a whole trace',
    permission: 'tracer:read',
    schema: {
      params: traceParams,
      query: Type.Object({
        raw: Type.Optional(Raw),
        spanOffset: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'how many spans to skip' }),
        ),
        spanLimit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 100_000,
            default: 10_000,
            description: 'at most so many spans',
          }),
        ),
      }),
      response: { 200: traceDetail },
    },
  },
  getCriticalPath: {
    method: 'GET',
    url: '/api/v1/traces/:traceId/critical-path',
    summary: 'Say what decided how long a trace took',
    permission: 'tracer:read',
    schema: {
      params: traceParams,
      query: Type.Object({ raw: Type.Optional(Raw) }),
      response: { 200: criticalPath },
    },
  },
  health: healthRoute('/api/v1/health', {
    database: Type.Object({
      status: Type.String({ description: '`healthy` or `unhealthy`' }),
      latency: Type.Number({ description: 'milliseconds of one round trip' }),
      connections: Type.Integer({ description: 'that the database has open' }),
    }),
    storage: Type.Object({
      tracesStored: Type.Integer(),
      spansStored: Type.Integer(),
      diskUsage: Type.String({ description: 'of the tracer’s tables, such as `12.3 MB`' }),
    }),
    intake: Type.Object({
      openTraces: Type.Integer(),
      queuedExports: Type.Integer(),
    }),
  }),
} as const satisfies Readonly<Record<string, Route>>;

const completed = Type.Object({
  type: Type.Enum(['trace-completed', 'trace-updated']),
  seq: Type.Integer(),
  traceId: Type.String(),
  timestamp: Time,
  data: Type.Object({
    name: Type.String(),
    duration: Type.Integer({ description: 'milliseconds' }),
    status: Status,
    spans: Type.Integer(),
    bottlenecks: Type.Integer({
      description:
        'spans that failed or took unusually long; what only shows in how calls stand to each other (repeated calls, serial calls, waits in queues) is counted by `…/bottlenecks` alone',
    }),
    agents: Type.Array(Type.String()),
  }),
});

const subscription = Type.Object({
  ...subscribeFields,
  filters: Type.Optional(
    Type.Object({
      agents: Type.Optional(Type.Array(Type.String({ maxLength: 512 }), { maxItems: 1_000 })),
      minDuration: Type.Optional(Milliseconds),
      status: Type.Optional(Type.Array(Status, { maxItems: 3 })),
    }),
  ),
});
export type TraceSubscription = Static<typeof subscription>;

/** Traces as they become complete. */
export const traceSockets = {
  traces: {
    url: '/api/v1/traces/stream',
    summary: 'Follow traces as they become complete',
    permission: 'tracer:read',
    subscribe: subscription,
    event: completed,
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;
