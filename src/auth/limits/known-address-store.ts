import type { Sql } from '../tables.ts';

/** Notes a login from an address; rejects with a foreign key violation when the user is gone. */
export async function rememberAddress(
  sql: Sql,
  seen: { readonly userId: string; readonly addressKey: string; readonly at: Date },
): Promise<void> {
  await sql
    .insertInto('known_addresses')
    .values({ user_id: seen.userId, address_key: seen.addressKey, last_seen_at: seen.at })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'address_key']).doUpdateSet({ last_seen_at: seen.at }),
    )
    .execute();
}

/** Forgets the addresses that nobody has logged in from since. */
export async function deleteForgottenAddresses(sql: Sql, before: Date): Promise<void> {
  await sql.deleteFrom('known_addresses').where('last_seen_at', '<', before).execute();
}
