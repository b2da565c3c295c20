import type { Database } from '../../kit/database/database.ts';

export type LeaseSql = Pick<Database, 'query'>;

export interface LeaseClaim {
  readonly name: string;
  readonly holder: string;
  readonly lastsMs: number;
}

/** The fence of the lease when it is the holder's from now on; undefined while another one has it. */
export async function claimLease(
  sql: LeaseSql,
  { name, holder, lastsMs }: LeaseClaim,
): Promise<number | undefined> {
  const [row] = await sql.query<{ fence: number }>(
    `insert into registry.leases as l (name, holder, expires_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update set
       holder = excluded.holder,
       fence = l.fence + case when l.holder = excluded.holder then 0 else 1 end,
       expires_at = excluded.expires_at
     where l.holder = excluded.holder or l.expires_at < clock_timestamp()
     returning fence`,
    [name, holder, lastsMs],
  );
  return row?.fence;
}

/** Lets another one have it at once. */
export async function releaseLease(
  sql: LeaseSql,
  { name, holder }: Pick<LeaseClaim, 'name' | 'holder'>,
): Promise<void> {
  await sql.query(
    `update registry.leases set expires_at = '-infinity' where name = $1 and holder = $2`,
    [name, holder],
  );
}
