import type { ConnectionState } from './connection-row.ts';
import { stateColumns, type ConnectionSql } from './connection-store.ts';

/** The newest revision that was given out, to a change or a removal. */
export async function readLastRevision(sql: ConnectionSql): Promise<number> {
  const [row] = await sql.query<{ readonly last: number }>(
    'select last_value as last from registry.connection_revisions',
  );
  return row?.last ?? 0;
}

/** A state, and the revision that the last change of more than the state came after. */
interface ChangedState extends ConnectionState {
  readonly rowAfter: number;
}

/** The states with a higher revision, and how many connections there are. */
export async function readChanges(
  sql: ConnectionSql,
  afterRevision: number,
): Promise<{ readonly changes: readonly ChangedState[]; readonly count: number }> {
  const changes = await sql.query<ChangedState>(
    `select ${stateColumns}, c.row_after as "rowAfter" from registry.connections c
     where c.revision > $1`,
    [afterRevision],
  );
  const [all] = await sql.query<{ readonly count: number }>(
    'select count(*)::integer as count from registry.connections',
  );
  return { changes, count: all?.count ?? 0 };
}
