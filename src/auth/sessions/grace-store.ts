import { sql as raw } from 'kysely';
import type { Sql } from '../tables.ts';

/** The last login, refresh or audit event that there is; null on an empty database. */
export async function readLastEventAt(sql: Sql): Promise<Date | null> {
  const { rows } = await raw<{ at: Date | null }>`
    select greatest(
      (select max(token_issued_at) from auth.sessions),
      (select occurred_at from auth.audit order by seq desc limit 1)
    ) as at
  `.execute(sql);
  return rows[0]?.at ?? null;
}
