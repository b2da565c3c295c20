import { Type, type Static } from 'typebox';
import { healthRoute, type Route, type SocketRoute } from '../../kit/contract.ts';
import { metricsRoute } from '../../kit/metrics.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';

const PartStatus = Type.String({ description: '`healthy`, `degraded` or `unhealthy`' });

/** What the mesh tells of itself. */
export const activityRoutes = {
  metrics: metricsRoute('/api/v1/metrics'),
  health: healthRoute('/api/v1/health', {
    services: Type.Object({
      grpc: PartStatus,
      registry: PartStatus,
      swarm: PartStatus,
      acap: PartStatus,
    }),
    metrics: Type.Object({
      totalAgents: Type.Integer({ description: 'registered and not offline' }),
      activeSwarms: Type.Integer(),
      messagesPerSecond: Type.Number({
        description: 'events, heartbeats and discoveries of the last minute',
      }),
      averageLatency: Type.Number({
        description: 'milliseconds of a task, over the last five minutes',
      }),
    }),
  }),
} as const satisfies Readonly<Record<string, Route>>;

const activityEvent = Type.Object(
  {
    eventId: Type.String(),
    type: Type.String({
      description:
        '`agent-registered`, `agent-status`, `agent-deregistered`, `task-executed`, `task-failed`, `task-cancelled`, `swarm-created`, `vote-cast`, `vote-conflict`, `swarm-decided`, `capability-attested`, `attestation-revoked`, `certificate-issued`',
    }),
    agentId: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
    data: Type.Object({}, { additionalProperties: true }),
    seq: Type.Integer(),
  },
  { $id: 'ActivityEvent' },
);

const subscription = Type.Object({
  ...subscribeFields,
  filters: Type.Optional(
    Type.Object({
      agentIds: Type.Optional(
        Type.Array(Type.String({ maxLength: 128 }), {
          maxItems: 1_000,
          description: 'events of these agents only; absent or empty: of all',
        }),
      ),
      eventTypes: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), {
          maxItems: 100,
          description: 'events of these types only; absent or empty: of all',
        }),
      ),
    }),
  ),
});
export type ActivitySubscription = Static<typeof subscription>;

/** What happens on the mesh, as it happens. */
export const activitySockets = {
  activity: {
    url: '/api/v1/activity/stream',
    summary: 'Follow what happens on the mesh',
    subscribe: subscription,
    event: activityEvent,
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;
