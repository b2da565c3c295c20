import type { Handler } from '../../kit/http/call.ts';
import { serveSubscription } from '../../kit/sockets/subscription.ts';
import type { SocketHandlers } from '../../kit/sockets/socket-handlers.ts';
import type { BusEvent } from '../../kit/bus/bus.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { tracerContract } from '../contract.ts';
import type { TraceEvent } from '../intake/writes.ts';
import type { TracerParts } from '../parts.ts';
import { listing, type ListSource } from '../reading/listing.ts';
import { traceSockets, type traceRoutes, type TraceSubscription } from '../schemas/traces.ts';

type Routes = typeof traceRoutes;
type TraceHandlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };

/** The edge of traces one by one. */
export function traceHandlers(parts: TracerParts): TraceHandlers {
  const { reader } = parts;
  return {
    listTraces: ({ query }) => listing(listSourceOf(parts), query, Date.now()),
    getTrace: async ({ params, query }) =>
      new WrittenJson(await reader.view(params.traceId.toLowerCase(), 'detail', query)),
    getCriticalPath: async ({ params, query }) =>
      new WrittenJson(await reader.view(params.traceId.toLowerCase(), 'criticalPath', query)),
    health: () => health(parts),
  };
}

/** What traces are listed from. */
export function listSourceOf({ host, intake }: TracerParts): ListSource {
  return { database: host.database, listOpen: (query) => intake.listOpen(query) };
}

async function health({ host, intake, storage }: TracerParts) {
  const { openTraces, queuedExports } = intake.state;
  const answer = { ...host.health(), intake: { openTraces, queuedExports } };
  try {
    const [latency, figures] = await Promise.all([host.database.ping(), storage.figures()]);
    return {
      ...answer,
      database: { status: 'healthy', latency: round(latency), connections: figures.connections },
      storage: {
        tracesStored: figures.traces,
        spansStored: figures.spans,
        diskUsage: formatMegabytes(figures.bytes),
      },
    };
  } catch {
    return {
      ...answer,
      status: 'unhealthy',
      database: { status: 'unhealthy', latency: 0, connections: 0 },
      storage: { tracesStored: 0, spansStored: 0, diskUsage: 'unknown' },
    };
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The stream of traces that become complete. */
export function traceSocketHandlers({
  completed,
}: Pick<TracerParts, 'completed'>): SocketHandlers<typeof tracerContract> {
  return {
    traces: (connection) =>
      serveSubscription(connection, {
        topic: completed,
        subscribe: traceSockets.traces.subscribe,
        filter: matching,
        toMessage,
      }),
  };
}

function matching({ filters = {} }: TraceSubscription): (event: TraceEvent) => boolean {
  const { agents, minDuration = 0, status } = filters;
  const wanted = agents && new Set(agents);
  return (event) =>
    event.durationMs >= minDuration &&
    (wanted === undefined || event.agents.some((agent) => wanted.has(agent))) &&
    (status === undefined || status.includes(event.status));
}

function toMessage({ data, publishedAt }: BusEvent<TraceEvent>) {
  const { name, status, spans, bottlenecks, agents } = data;
  return {
    type: data.isFirst ? 'trace-completed' : 'trace-updated',
    traceId: data.traceId,
    timestamp: new Date(publishedAt).toISOString(),
    data: { name, duration: data.durationMs, status, spans, bottlenecks, agents },
  };
}
