import type { Bus } from '../../kit/bus/bus.ts';
import { newsRetention, TableReplica, type TableNews } from '../../kit/bus/table-replica.ts';
import { hasUnheardWriters } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Log } from '../../kit/log.ts';
import type { AgentRow, AgentState, Removal } from './agent-row.ts';
import {
  readAgents,
  readChanges,
  readLastRevision,
  readPage,
  type AgentSql,
} from './agent-store.ts';
import type { Directory } from './directory.ts';

/** Where replicas tell each other of their agents. */
export const agentsTopic = 'mesh.agents';

/** The directory's likeness to that of every other replica. */
export type Replication = TableReplica<AgentRow, AgentState, Removal>;

export interface ReplicationOptions {
  readonly sql: AgentSql & Pick<Database, 'dialect'>;
  readonly bus: Bus;
  readonly directory: Directory;
  readonly log: Log;
}

/** Keeps the directory like that of every other replica, once it is started. */
export function replicateAgents({ sql, bus, directory, log }: ReplicationOptions): Replication {
  const topic = bus.topic<TableNews<AgentRow, AgentState, Removal>>(agentsTopic, newsRetention);
  const table = {
    what: 'agents',
    hasUnheardWriters: () => hasUnheardWriters(bus, sql),
    idOf: ({ agentId }: Pick<Removal, 'agentId'>) => agentId,
    versionOf: ({ agentId, revision }: Removal) => ({ agentId, revision }),
    held: () => directory.all(),
    get size() {
      return directory.size;
    },
    holds: ({ agentId, revision }: Removal) => (directory.find(agentId)?.revision ?? 0) >= revision,
    put: (row: AgentRow) => directory.put(row),
    apply: (state: AgentState) => void directory.apply(state),
    remove: (removal: Removal) => directory.remove(removal),
    read: (ids: readonly string[]) => readAgents(sql, ids),
    readPage: (afterId: string) => readPage(sql, afterId),
    readLastRevision: () => readLastRevision(sql),
    readChanges: async (afterRevision: number) => {
      const { states, count } = await readChanges(sql, afterRevision);
      // A state of another registration is not taken over: its row is lacking.
      const large = states.map(({ agentId, revision }) => ({ agentId, revision }));
      return { news: { states, large }, count };
    },
  };
  return new TableReplica<AgentRow, AgentState, Removal>(table, topic, log);
}
