import type { OAuthProviderRow, Sql } from '../tables.ts';

export function findProvider(sql: Sql, name: string): Promise<OAuthProviderRow | undefined> {
  return sql.selectFrom('oauth_providers').selectAll().where('name', '=', name).executeTakeFirst();
}

export function listProviders(sql: Sql): Promise<OAuthProviderRow[]> {
  return sql.selectFrom('oauth_providers').selectAll().orderBy('name').execute();
}

/** Stores a provider in place of the one that had its name. */
export async function saveProvider(sql: Sql, provider: OAuthProviderRow): Promise<void> {
  const { name: _name, ...changes } = provider;
  await sql
    .insertInto('oauth_providers')
    .values(provider)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(changes))
    .execute();
}

/** False when there was none. */
export async function deleteProvider(sql: Sql, name: string): Promise<boolean> {
  const gone = await sql
    .deleteFrom('oauth_providers')
    .where('name', '=', name)
    .returning('name')
    .execute();
  return gone.length === 1;
}
