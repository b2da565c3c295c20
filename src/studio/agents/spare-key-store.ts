import type { AgentSql } from './agent-store.ts';

/** A replica, and until when its keys are its own. */
export interface SpareLease {
  readonly replicaId: string;
  readonly until: Date;
}

export async function insertSpareKey(
  sql: AgentSql,
  keyId: string,
  { replicaId, until }: SpareLease,
): Promise<void> {
  await sql.query(
    `insert into studio.spare_keys (key_id, replica, valid_until) values ($1, $2, $3::timestamptz)`,
    [keyId, replicaId, until],
  );
}

/** Prolongs a replica's keys; answers those that are still noted: others have revoked the rest. */
export async function renewSpareKeys(
  sql: AgentSql,
  { replicaId, until }: SpareLease,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ readonly key_id: string }>(
    `update studio.spare_keys set valid_until = $2::timestamptz where replica = $1
     returning key_id`,
    [replicaId, until],
  );
  return new Set(rows.map(({ key_id: keyId }) => keyId));
}

/** Keys that a dead replica left; of one that is alone on its database all that are not its own. */
export async function readLeftSpareKeys(
  sql: AgentSql,
  { replicaId, isAlone, now }: { replicaId: string; isAlone: boolean; now: Date },
): Promise<string[]> {
  const rows = await sql.query<{ readonly key_id: string }>(
    `select key_id from studio.spare_keys
     where replica <> $1 and ($2 or valid_until <= $3::timestamptz) limit 100`,
    [replicaId, isAlone, now],
  );
  return rows.map(({ key_id: keyId }) => keyId);
}

export async function deleteSpareKey(sql: AgentSql, keyId: string): Promise<void> {
  await sql.query('delete from studio.spare_keys where key_id = $1', [keyId]);
}
