import type { ConnectionSql } from './connection-store.ts';
import type { HistoryEntry } from './history.ts';

/** A page of a connection's history, the newest first. */
export async function listHistory(
  sql: ConnectionSql,
  id: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly entries: HistoryEntry[]; readonly total: number }> {
  const entries = await sql.query<HistoryEntry>(
    `select at_ms as "atMs", change, changed_by as by, reason, before, after, detail
     from registry.connection_history where connection_id = $1
     order by entry_id desc limit $2 offset $3`,
    [id, limit, offset],
  );
  const [count] = await sql.query<{ readonly total: number }>(
    'select count(*) as total from registry.connection_history where connection_id = $1',
    [id],
  );
  return { entries, total: count?.total ?? 0 };
}

/** Removes what happened before a moment. */
export async function deleteOldHistory(sql: ConnectionSql, beforeMs: number): Promise<void> {
  await sql.query('delete from registry.connection_history where at_ms < $1', [beforeMs]);
}

/** Removes all but the newest so many entries of each connection. */
export async function deleteSurplusHistory(sql: ConnectionSql, keptMax: number): Promise<void> {
  await sql.query(
    `delete from registry.connection_history h using (
       select connection_id from registry.connection_history
       group by connection_id having count(*) > $1) as t
     where h.connection_id = t.connection_id and h.entry_id <= (
       select o.entry_id from registry.connection_history o
       where o.connection_id = t.connection_id order by o.entry_id desc offset $1 limit 1)`,
    [keptMax],
  );
}
