import { Type, type Static } from 'typebox';
import type { SocketRoute } from '../../kit/contract.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';

const eventTypes = ['connection-status', 'health-check', 'capability-request'] as const;

const fields = {
  timestamp: Type.String({ format: 'date-time' }),
  seq: Type.Integer({ description: 'subscribe with `after` to get what came later' }),
};

const registryEvent = Type.Union(
  [
    Type.Object({
      type: Type.Literal('connection-status'),
      connectionId: Type.String(),
      status: Type.String({ description: '`active`, `idle`, `disconnected` or `error`' }),
      reason: Type.Optional(Type.String()),
      change: Type.Optional(
        Type.String({ description: 'such as `registered`, `updated`, `tools-changed`' }),
      ),
      tools: Type.Optional(Type.Array(Type.String())),
      ...fields,
    }),
    Type.Object({
      type: Type.Literal('health-check'),
      connectionId: Type.String(),
      health: Type.String({ description: '`healthy`, `degraded` or `error`' }),
      responseTime: Type.Number({ description: 'milliseconds' }),
      reason: Type.Optional(Type.String()),
      ...fields,
    }),
    Type.Object({
      type: Type.Literal('capability-request'),
      connectionId: Type.Optional(Type.String({ description: 'absent when nobody was found' })),
      capability: Type.String({ description: 'the name of a tool, or what was sought' }),
      outcome: Type.String(),
      ...fields,
    }),
  ],
  { $id: 'RegistryEvent' },
);

const subscription = Type.Object({
  ...subscribeFields,
  events: Type.Optional(
    Type.Array(Type.Enum([...eventTypes]), {
      maxItems: 16,
      description: 'events of these types only; absent or empty: of all',
    }),
  ),
});
export type StreamSubscription = Static<typeof subscription>;

/** What happens to connections, as it happens. */
export const streamSockets = {
  stream: {
    url: '/registry/stream',
    summary: 'Follow what happens to connections',
    subscribe: subscription,
    event: registryEvent,
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;
