import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageQuery } from '../../kit/paging.ts';
import { strategies } from '../balancing/strategy.ts';
import { connectionSummary, ConnectionType, Protocol, Status, Time } from './connection-answers.ts';

const Capability = Type.String({ minLength: 1, maxLength: 256 });
const Rate = Type.Number({ description: '0..1' });
const Milliseconds = Type.Number({ description: 'milliseconds' });
const Count = Type.Integer();

const Strategy = Type.Enum([...strategies, 'p2c'], {
  description:
    '`power-of-two` (`p2c`) when absent: the less loaded of two drawn by weight; `latency`: the quicker of two; `consistent-hash`: the same key, the same connection',
});

const found = Type.Object({
  ...connectionSummary.properties,
  load: Type.Number({ description: 'active requests over capacity, 0..1' }),
  why: Type.String({ description: 'why it was chosen, or stands last' }),
});

const evidence = Type.Object({
  providers: Count,
  working: Count,
  ejected: Count,
  capacity: Count,
  activeRequests: Count,
  queued: Type.Integer({ description: 'requests beyond what their connections take at once' }),
  utilisation: Type.Number({
    description: 'of the capacity, now or on average of the last minute; above 1 when overloaded',
  }),
  requestsPerMinute: Count,
  errorRate: Rate,
  p95Latency: Milliseconds,
  usualP95Latency: Milliseconds,
});

/** Which connections can do what, how much they have to do, and which one is best asked. */
export const balancingRoutes = {
  discoverConnections: {
    method: 'POST',
    url: '/connections/discover',
    summary: 'Find connections that have all of the capabilities',
    isDirect: true,
    bodiesRecur: true,
    description:
      'Connections in error only with `filters.status`; disconnected ones never. Outliers (five failures in a row, or more than half of the last minute failed) stand last for a while. `metadata.capacity` says how many requests a connection takes at once (16 when absent), `metadata.weight` its share (1). Without `loadBalancing`: in the order of registration, at most 1,000.',
    schema: {
      body: Type.Object({
        capabilities: Type.Optional(Type.Array(Capability, { maxItems: 100 })),
        filters: Type.Optional(
          Type.Object({
            status: Type.Optional(Status),
            protocol: Type.Optional(Protocol),
            type: Type.Optional(ConnectionType),
            minUptime: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'seconds' }),
            ),
          }),
        ),
        loadBalancing: Type.Optional(
          Type.Object({
            strategy: Type.Optional(Strategy),
            maxConnections: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 1_000,
                description: 'most returned, 100 when absent',
              }),
            ),
            key: Type.Optional(
              Type.String({
                maxLength: 512,
                description: 'for `consistent-hash`; who asks, when absent',
              }),
            ),
          }),
        ),
      }),
      response: {
        200: Type.Object({
          connections: Type.Array(found),
          totalMatching: Type.Integer({ description: 'all that match, also beyond the most' }),
          loadBalanced: Type.Boolean(),
          strategy: Type.String({ description: '`none` without `loadBalancing`' }),
        }),
      },
    },
  },
  listCapabilities: {
    method: 'GET',
    url: '/capabilities',
    summary: 'List what connections declare and offer, by name',
    schema: {
      query: Type.Object({
        prefix: Type.Optional(
          Type.String({ maxLength: 256, description: 'only capabilities that begin so' }),
        ),
        q: Type.Optional(
          Type.String({ maxLength: 256, description: 'what a name or description holds' }),
        ),
        ...pageQuery({ max: 10_000, usual: 1_000 }),
      }),
      response: {
        200: Type.Object({
          capabilities: Type.Array(
            Type.Object({
              name: Type.String(),
              description: Type.String(),
              providers: Type.Integer({ description: 'that are not disconnected' }),
              totalRequests: Type.Integer({ description: 'calls through the registry' }),
              averageLatency: Milliseconds,
            }),
          ),
          totalCapabilities: Type.Integer({ description: 'all that match, whatever the page' }),
        }),
      },
    },
  },
  readStatistics: {
    method: 'GET',
    url: '/registry/stats',
    summary: 'Count connections, capabilities and requests',
    schema: {
      response: {
        200: Type.Object({
          timestamp: Time,
          connections: Type.Object({
            total: Count,
            active: Count,
            idle: Count,
            disconnected: Count,
            error: Count,
          }),
          protocols: Type.Object({ stdio: Count, http: Count, websocket: Count }),
          capabilities: Type.Object({
            total: Count,
            mostUsed: Type.Array(Type.Object({ name: Type.String(), requests: Count }), {
              maxItems: 10,
              description: 'of what is offered now at most ten, the most requested first',
            }),
          }),
          performance: Type.Object(
            {
              averageLatency: Milliseconds,
              requestsPerSecond: Type.Number({ description: 'of the last minute' }),
              errorRate: Rate,
            },
            { description: 'of calls through the registry, ever, on all replicas' },
          ),
        }),
      },
    },
  },
  readLoadDistribution: {
    method: 'GET',
    url: '/load-balancing/distribution',
    summary: 'Say who has how much to do, the busiest first, and what follows from it',
    schema: {
      query: Type.Object({ limit: pageQuery({ max: 10_000, usual: 1_000 }).limit }),
      response: {
        200: Type.Object({
          strategy: Type.String({ description: 'what is used where no other is named' }),
          connections: Type.Array(
            Type.Object({
              id: Type.String(),
              name: Type.String(),
              load: Type.Number({ description: 'active requests over capacity, 0..1' }),
              activeRequests: Count,
              capacity: Count,
              weight: Type.Number(),
              status: Type.String(),
              requestsPerMinute: Count,
              averageLatency: Milliseconds,
              p95Latency: Type.Number({
                description: 'milliseconds, of the last one to two minutes',
              }),
              errorRate: Type.Number({ description: '0..1, of the last minute' }),
              ejectedUntil: Type.Optional(Time),
            }),
          ),
          recommendations: Type.Array(
            Type.Object({
              action: Type.Enum(['scale-up', 'scale-down', 'investigate']),
              reason: Type.String(),
              suggestedConnections: Type.Integer({ description: 'to add, or to remove' }),
              capability: Type.String(),
              capabilities: Type.Array(Type.String(), {
                description: 'further ones that the same connections share',
              }),
              evidence,
            }),
          ),
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
