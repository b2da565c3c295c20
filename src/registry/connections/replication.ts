import type { Bus } from '../../kit/bus/bus.ts';
import { newsRetention, TableReplica, type TableNews } from '../../kit/bus/table-replica.ts';
import { hasUnheardWriters } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Log } from '../../kit/log.ts';
import { connectionsTopic } from '../events.ts';
import type { Connection } from './connection.ts';
import type { ConnectionRow, ConnectionState, Version } from './connection-row.ts';
import { readChanges, readLastRevision } from './connection-changes-store.ts';
import { readConnections, readPage, type ConnectionSql } from './connection-store.ts';
import type { ConnectionDirectory } from './directory.ts';

export type ReplicatedSql = ConnectionSql & Pick<Database, 'dialect'>;

/** The directory's likeness to that of every other replica. */
export type Replication = TableReplica<ConnectionRow, ConnectionState, Version>;

export interface ReplicationOptions {
  readonly sql: ReplicatedSql;
  readonly bus: Bus;
  readonly directory: ConnectionDirectory;
  /** The connection that a row tells. */
  readonly open: (row: ConnectionRow) => Connection;
  readonly log: Log;
}

/** Keeps the directory like that of every other replica, once it is started. */
export function replicateConnections(options: ReplicationOptions): Replication {
  const { sql, bus, directory, open, log } = options;
  type News = TableNews<ConnectionRow, ConnectionState, Version>;
  const table = {
    what: 'connections',
    hasUnheardWriters: () => hasUnheardWriters(bus, sql),
    idOf: ({ id }: Pick<Version, 'id'>) => id,
    versionOf: ({ id, revision }: Version) => ({ id, revision }),
    held: () => directory.all(),
    get size() {
      return directory.size;
    },
    holds: (version: Version) => directory.hasRow(version),
    put: (row: ConnectionRow) => {
      if (!directory.hasRow(row)) directory.put(open(row));
    },
    apply: (state: ConnectionState) => directory.apply(state),
    remove: (version: Version) => directory.remove(version),
    read: (ids: readonly string[]) => readConnections(sql, ids),
    readPage: (afterId: string) => readPage(sql, afterId),
    readLastRevision: () => readLastRevision(sql),
    readChanges: async (afterRevision: number) => {
      const { changes, count } = await readChanges(sql, afterRevision);
      // Checks and requests change a row's revision and not what only the row tells.
      const large = changes.map(({ id, rowAfter }) => ({ id, revision: rowAfter + 1 }));
      return { news: { states: changes, large }, count };
    },
  };
  const topic = bus.topic<News>(connectionsTopic, newsRetention);
  return new TableReplica<ConnectionRow, ConnectionState, Version>(table, topic, log);
}
