import type { Database } from '../../kit/database/database.ts';
import type { Agent, AgentStatus } from './agent.ts';
import type { AgentRecord, WantedEnd } from './agent-record.ts';
import { agentColumns, isLive, toRecord, type AgentRow } from './agent-row.ts';

export type AgentSql = Pick<Database, 'query'>;

/** Who runs agents, and where. */
export interface Replica {
  readonly id: string;
  readonly place: string;
}

/**
 * Stores a new agent under a lease of the replica; false when there are too many already. A key that a
 * warm program had is the agent's from now on, or the caller's to revoke.
 */
export async function insertAgent(
  sql: AgentSql,
  { agent, keyId }: { readonly agent: Agent; readonly keyId: string },
  by: {
    readonly replica: Replica;
    readonly leaseUntil: Date;
    readonly agentsMax: number;
    readonly ownerAgentsMax: number;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `with taken as (delete from studio.spare_keys k where k.key_id = $13)
     insert into studio.agents (id, name, type, template, status, capabilities, runtime,
       workspace_id, owner_id, cpu, memory, created_at, expires_at, key_id, replica, place,
       lease_until)
     select $1, $2, $3, $4, 'starting', $5::text[], $6, $7, $8, $9::double precision, $10::bigint,
       $11::timestamptz, $12::timestamptz, $13, $14, $15, $16::timestamptz
     from (select count(*) as total, count(*) filter (where a.owner_id = $8) as own
       from studio.agents a where ${isLive}) as there
     where there.total < $17 and there.own < $18
     returning id`,
    [
      agent.id,
      agent.name,
      agent.type,
      agent.template,
      agent.capabilities,
      agent.runtime,
      agent.workspaceId,
      agent.ownerId,
      agent.resources.cpu,
      agent.resources.memory,
      new Date(agent.createdAtMs),
      agent.expiresAtMs === undefined ? undefined : new Date(agent.expiresAtMs),
      keyId,
      by.replica.id,
      by.replica.place,
      by.leaseUntil,
      by.agentsMax,
      by.ownerAgentsMax,
    ],
  );
  return rows.length > 0;
}

export async function readAgent(sql: AgentSql, id: string): Promise<AgentRecord | undefined> {
  const [row] = await sql.query<AgentRow>(
    `select ${agentColumns} from studio.agents a where a.id = $1`,
    [id],
  );
  return row && toRecord(row);
}

/** All that have not ended. */
export async function readLiveAgents(sql: AgentSql): Promise<AgentRecord[]> {
  const rows = await sql.query<AgentRow>(
    `select ${agentColumns} from studio.agents a where ${isLive} order by a.id`,
  );
  return rows.map(toRecord);
}

/** Those of a workspace, ended ones too. */
export async function readWorkspaceAgents(
  sql: AgentSql,
  workspaceId: string,
): Promise<AgentRecord[]> {
  const rows = await sql.query<AgentRow>(
    `select ${agentColumns} from studio.agents a where a.workspace_id = $1 order by a.id`,
    [workspaceId],
  );
  return rows.map(toRecord);
}

export interface AgentFilter {
  /** Absent: all there are. */
  readonly seenBy?: { readonly subject: string; readonly roles: readonly string[] } | undefined;
  readonly workspaceId?: string | undefined;
  readonly status?: AgentStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Those that somebody sees: its own without a workspace, and those where it has such a role. */
export async function listAgents(
  sql: AgentSql,
  { seenBy, workspaceId, status, limit, offset }: AgentFilter,
): Promise<{ readonly agents: Agent[]; readonly total: number }> {
  const where = `($1::text is null or (a.workspace_id is null and a.owner_id = $1)
      or exists (select from studio.members m
        where m.workspace_id = a.workspace_id and m.user_id = $1 and m.role = any($2::text[])))
    and ($3::text is null or a.workspace_id = $3) and ($4::text is null or a.status = $4)`;
  const filter = [seenBy?.subject, seenBy?.roles ?? [], workspaceId, status];
  const [rows, [counted]] = await Promise.all([
    sql.query<AgentRow>(
      `select ${agentColumns} from studio.agents a where ${where} order by a.id desc limit $5 offset $6`,
      [...filter, limit, offset],
    ),
    sql.query<{ total: number }>(
      `select count(*) as total from studio.agents a where ${where}`,
      filter,
    ),
  ]);
  return { agents: rows.map((row) => toRecord(row).agent), total: counted?.total ?? 0 };
}

/**
 * Writes what its run knows of an agent, unless another replica runs it by now: then undefined. Who
 * is asked to end meanwhile stays `stopping` until it has ended.
 */
export async function saveAgent(
  sql: AgentSql,
  { agent, reference, keyId, restartedAtMs }: AgentRecord,
  replicaId: string,
): Promise<AgentRecord | undefined> {
  const [row] = await sql.query<AgentRow>(
    `update studio.agents a set
       status = case when a.wanted is not null and $3 in ('starting', 'running', 'restarting')
         then 'stopping' else $3 end,
       started_at = $4::timestamptz, ended_at = $5::timestamptz, restarts = $6, failure = $7,
       reference = $8, key_id = $9, restarted_at = $10, revision = a.revision + 1
     where a.id = $1 and a.replica = $2
     returning ${agentColumns}`,
    [
      agent.id,
      replicaId,
      agent.status,
      dateOf(agent.startedAtMs),
      dateOf(agent.endedAtMs),
      agent.restarts,
      agent.failure && JSON.stringify(agent.failure),
      reference,
      keyId,
      JSON.stringify(restartedAtMs),
    ],
  );
  return row && toRecord(row);
}

/** Asks an agent to end; undefined when it has, or there is none. Removal outdoes other ends. */
export async function wantEnd(
  sql: AgentSql,
  id: string,
  wanted: WantedEnd,
): Promise<AgentRecord | undefined> {
  const [row] = await sql.query<AgentRow>(
    `update studio.agents a set status = 'stopping', revision = a.revision + 1,
       wanted = case when $2 = 'removed' then $2 else coalesce(a.wanted, $2) end
     where a.id = $1 and ${isLive} returning ${agentColumns}`,
    [id, wanted],
  );
  return row && toRecord(row);
}

/** With its log. */
export async function deleteAgent(sql: AgentSql, id: string): Promise<void> {
  await sql.query('delete from studio.agents where id = $1', [id]);
}

function dateOf(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
