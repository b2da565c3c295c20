import type { AgentUse } from './agent.ts';
import type { AgentRecord } from './agent-record.ts';
import { agentColumns, isLive, toRecord, type AgentRow } from './agent-row.ts';
import type { AgentSql, Replica } from './agent-store.ts';

export interface ClaimOptions {
  readonly replica: Replica;
  readonly now: Date;
  readonly leaseUntil: Date;
  /** A local agent of another place is taken over when its lease has ended before. */
  readonly strayBefore: Date;
  /** Nobody else runs agents on this database: what is leased was left by a dead process. */
  readonly takesLeased: boolean;
  readonly countMax: number;
}

/** An agent that this replica has taken over. */
export interface ClaimedAgent {
  readonly record: AgentRecord;
  /** It ran on another machine: nothing of it can be found here. */
  readonly isStray: boolean;
}

/** Takes over agents that nobody runs, the oldest first; of several replicas one gets each. */
export async function claimAgents(
  sql: AgentSql,
  { replica, now, leaseUntil, strayBefore, takesLeased, countMax }: ClaimOptions,
): Promise<ClaimedAgent[]> {
  const rows = await sql.query<AgentRow & { readonly is_stray: boolean }>(
    `with free as (
       select a.id, a.runtime = 'local' and a.place is distinct from $2 as is_stray
       from studio.agents a
       where ${isLive} and a.replica is distinct from $1
         and ($6 or a.lease_until is null or (a.lease_until <= $3::timestamptz
           and (a.runtime <> 'local' or a.place = $2 or a.lease_until <= $5::timestamptz)))
       order by a.id limit $7 for update skip locked)
     update studio.agents a set replica = $1, place = $2, lease_until = $4::timestamptz
     from free where a.id = free.id returning ${agentColumns}, free.is_stray`,
    [replica.id, replica.place, now, leaseUntil, strayBefore, takesLeased, countMax],
  );
  return rows.map((row) => ({ record: toRecord(row), isStray: row.is_stray }));
}

/** Prolongs leases and notes what the agents take; answers those that are still the replica's. */
export async function renewLeases(
  sql: AgentSql,
  uses: ReadonlyMap<string, AgentUse | undefined>,
  { replicaId, until }: { readonly replicaId: string; readonly until: Date },
): Promise<ReadonlySet<string>> {
  const own = [...uses].map(([id, use]) => ({ id, cpu: use?.cpu, memory: use?.memory }));
  const rows = await sql.query<{ readonly id: string }>(
    `update studio.agents a set lease_until = $3::timestamptz, use_cpu = own.cpu,
       use_memory = own.memory
     from json_to_recordset($1::json) as own(id text, cpu double precision, memory bigint)
     where a.id = own.id and a.replica = $2 returning a.id`,
    [JSON.stringify(own), replicaId, until],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Gives agents back, so that others need not wait for the end of the lease. */
export async function releaseAgents(sql: AgentSql, replicaId: string, now: Date): Promise<void> {
  await sql.query(
    `update studio.agents a set replica = null, lease_until = $2::timestamptz
     where a.replica = $1 and ${isLive}`,
    [replicaId, now],
  );
}

/** Agents that have ended and whose key could not be revoked then. */
export async function readEndedKeys(
  sql: AgentSql,
): Promise<readonly { readonly id: string; readonly keyId: string }[]> {
  return sql.query(
    `select a.id, a.key_id as "keyId" from studio.agents a
     where a.key_id is not null and not (${isLive}) order by a.id limit 100`,
  );
}

/** The key of an ended agent is revoked. */
export async function forgetKey(sql: AgentSql, id: string): Promise<void> {
  await sql.query('update studio.agents set key_id = null where id = $1', [id]);
}
