import type { Handler } from '../../kit/http/call.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import { serveSubscription } from '../../kit/sockets/subscription.ts';
import { SharedFrames } from '../../kit/sockets/text-frames.ts';
import type { ActivityEvent } from '../activity/activity.ts';
import type { ActivityFeed } from '../activity/activity-feed.ts';
import type { MeshMetrics } from '../activity/mesh-metrics.ts';
import {
  activitySockets,
  type activityRoutes,
  type ActivitySubscription,
} from '../schemas/activity.ts';

type Routes = typeof activityRoutes;

/** How the parts of the mesh do: `healthy`, `degraded` or `unhealthy` each. */
export interface PartStatuses {
  readonly grpc: string;
  readonly registry: string;
  readonly swarm: string;
  readonly acap: string;
}

export interface ActivityParts {
  readonly metrics: Pick<MeshMetrics, 'answer' | 'figures'>;
  /** The fields that every health answer begins with. */
  readonly health: () => { status: string; version: string; uptime: number };
  readonly statuses: () => PartStatuses | Promise<PartStatuses>;
}

/** The edge of what the mesh tells of itself. */
export function activityHandlers(parts: ActivityParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    metrics: () => parts.metrics.answer(),
    health: () => health(parts),
  };
}

/** The stream of what happens. */
export function activitySocketHandlers(feed: Pick<ActivityFeed, 'topic'>) {
  const frames = new SharedFrames();
  return {
    activity: (connection: Connection<typeof activitySockets.activity>): void =>
      serveSubscription(connection, {
        topic: feed.topic,
        subscribe: activitySockets.activity.subscribe,
        filter: matching,
        toMessage: ({ data }) => data,
        frames,
      }),
  };
}

/** As a whole the mesh is as well as the worst of its parts. */
async function health({ metrics, health: begin, statuses }: ActivityParts) {
  const base = begin();
  const services = await statuses();
  const worst = ['unhealthy', 'degraded'].find((status) =>
    [base.status, ...Object.values(services)].includes(status),
  );
  return { ...base, status: worst ?? base.status, services, metrics: metrics.figures() };
}

function matching({ filters = {} }: ActivitySubscription): (event: ActivityEvent) => boolean {
  const agentIds = toSet(filters.agentIds);
  const types = toSet(filters.eventTypes);
  return ({ agentId, type }) => (agentIds?.has(agentId) ?? true) && (types?.has(type) ?? true);
}

function toSet(values: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return values && values.length > 0 ? new Set(values) : undefined;
}
