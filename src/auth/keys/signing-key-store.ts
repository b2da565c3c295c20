import type { SigningKeyRow, Sql } from '../tables.ts';

/** All keys whose tokens may still be good, the newest first. */
export function listSigningKeys(sql: Sql): Promise<SigningKeyRow[]> {
  return sql
    .selectFrom('signing_keys')
    .selectAll()
    .where('state', '!=', 'retired')
    .orderBy('created_at', 'desc')
    .execute();
}

export async function insertSigningKey(sql: Sql, key: SigningKeyRow): Promise<void> {
  await sql.insertInto('signing_keys').values(key).execute();
}
