import type { Handler } from '../../kit/http/call.ts';
import {
  toDetail,
  toDisconnected,
  toHistoryAnswer,
  toRegistered,
  toSummary,
  type Told,
} from '../connections/answers.ts';
import type { Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import type { connectionRoutes } from '../schemas/connections.ts';
import type { Traffic } from '../traffic/traffic.ts';

type Routes = typeof connectionRoutes;

export interface ConnectionParts {
  readonly connections: Connections;
  readonly traffic: Pick<Traffic, 'figures'>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

interface Filters {
  readonly status?: Connection['status'] | undefined;
  readonly type?: Connection['type'] | undefined;
  readonly protocol?: Connection['protocol'] | undefined;
  readonly capability?: string | undefined;
  readonly name?: string | undefined;
}

/** The edge of connections. */
export function connectionHandlers(parts: ConnectionParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  const { connections } = parts;
  const { directory } = connections;
  return {
    registerConnection: async ({ identity, body }) =>
      toRegistered(tell(parts, await connections.register(body, identity))),
    listConnections: ({ query }) => {
      const { limit, offset, ...filters } = query;
      const found: Connection[] = [];
      let filtered = 0;
      for (const connection of liveFirst(directory)) {
        if (!matches(parts, connection, filters)) continue;
        filtered += 1;
        if (filtered > offset && found.length < limit) found.push(connection);
      }
      const summaries = found.map((connection) => toSummary(tell(parts, connection)));
      return { connections: summaries, total: directory.size, filtered, limit, offset };
    },
    getConnection: async ({ params }) =>
      toDetail(tell(parts, await connections.get(params.connectionId))),
    updateConnection: async ({ identity, params, body }) =>
      toDetail(tell(parts, await connections.update(params.connectionId, body, identity))),
    disconnectConnection: async ({ identity, params }) =>
      toDisconnected(await connections.disconnect(params.connectionId, identity)),
    approveConnection: async ({ identity, params, body }) =>
      toDetail(tell(parts, await connections.approve(params.connectionId, body, identity))),
    getConnectionHistory: async ({ params, query }) => {
      const { limit, offset } = query;
      const { connectionId } = params;
      const { entries, total } = await connections.history(connectionId, { limit, offset });
      return { connectionId, changes: entries.map(toHistoryAnswer), total, limit, offset };
    },
  };
}

/** What is there comes before what was, each in the order of registration. */
function* liveFirst(directory: Connections['directory']): Iterable<Connection> {
  for (const one of directory.all()) if (one.status !== 'disconnected') yield one;
  for (const one of directory.all()) if (one.status === 'disconnected') yield one;
}

function tell(
  { connections, traffic, now = Date.now }: ConnectionParts,
  connection: Connection,
): Told {
  const { id } = connection;
  return {
    connection,
    names: connections.directory.namesOf(id),
    figures: traffic.figures(id),
    lastActiveAtMs: connections.lastActiveAt(connection),
    nowMs: now(),
  };
}

function matches(
  { connections }: ConnectionParts,
  connection: Connection,
  { status, type, protocol, capability, name }: Filters,
): boolean {
  return (
    (status === undefined || connection.status === status) &&
    (type === undefined || connection.type === type) &&
    (protocol === undefined || connection.protocol === protocol) &&
    (name === undefined || connection.name === name) &&
    (capability === undefined || connections.directory.namesOf(connection.id).includes(capability))
  );
}
