import type { SigningKeyRow, Sql } from './tables.ts';

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
  // A driver would take a bare object for JSON too, but not every object type is one to it.
  const values = { ...key, public_jwk: JSON.stringify(key.public_jwk) as unknown as typeof key.public_jwk };
  await sql.insertInto('signing_keys').values(values).execute();
}
