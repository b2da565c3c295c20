import type { IdentityRow, Sql, SqlTransaction } from '../tables.ts';

/** The provider's tokens as they are stored: sealed. */
export type SealedTokens = Pick<
  IdentityRow,
  'access_token' | 'refresh_token' | 'token_type' | 'scope' | 'issued_at' | 'expires_at'
>;

/** What is left of tokens that the provider has taken back. */
export const noTokens = { access_token: null, refresh_token: null };

/** A subject and who vouches for it: the only thing that says who somebody is. */
export type IdentityKey = Pick<IdentityRow, 'issuer' | 'subject'>;

export function findIdentity(sql: Sql, key: IdentityKey): Promise<IdentityRow | undefined> {
  return sql
    .selectFrom('identities')
    .selectAll()
    .where('issuer', '=', key.issuer)
    .where('subject', '=', key.subject)
    .executeTakeFirst();
}

export function findIdentityOf(sql: Sql, userId: string): Promise<IdentityRow | undefined> {
  return sql.selectFrom('identities').selectAll().where('user_id', '=', userId).executeTakeFirst();
}

/** Rejects with a unique violation of `identities_pkey` when somebody was faster. */
export async function insertIdentity(sql: Sql, identity: IdentityRow): Promise<void> {
  await sql.insertInto('identities').values(identity).execute();
}

/** Identities that wait for their key, locked until the transaction ends. */
export function lockOriginIdentities(trx: SqlTransaction, limit: number): Promise<IdentityRow[]> {
  return trx
    .selectFrom('identities')
    .selectAll()
    .where('keyed_by_origin', '=', true)
    .orderBy('issuer')
    .orderBy('subject')
    .limit(limit)
    .forUpdate()
    .execute();
}

/** The identities of a provider under one key, locked until the transaction ends. */
export function lockIdentitiesOf(
  trx: SqlTransaction,
  { provider, issuer }: Pick<IdentityRow, 'provider' | 'issuer'>,
): Promise<IdentityRow[]> {
  return trx
    .selectFrom('identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('provider', '=', provider)
    .orderBy('subject')
    .forUpdate()
    .execute();
}

/** Gives an identity another key, unless somebody has that; a refresh under way then stores nothing. */
export async function rekeyIdentity(
  trx: SqlTransaction,
  { issuer, subject }: IdentityKey,
  changes: Partial<SealedTokens> & Pick<IdentityRow, 'issuer'>,
): Promise<void> {
  const isTaken = (await findIdentity(trx, { issuer: changes.issuer, subject })) !== undefined;
  await trx
    .updateTable('identities')
    .set(({ eb }) => ({
      ...(isTaken ? {} : { ...changes, token_version: eb('token_version', '+', 1) }),
      keyed_by_origin: false,
    }))
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute();
}

/** Replaces the tokens after a login, whatever refresh is under way. */
export async function storeLoginTokens(
  sql: Sql,
  { issuer, subject, ...changes }: IdentityKey & SealedTokens & { readonly provider: string },
): Promise<void> {
  await sql
    .updateTable('identities')
    .set(({ eb }) => ({
      ...changes,
      token_version: eb('token_version', '+', 1),
      lease_until: null,
    }))
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute();
}

/** Claims the right to refresh the tokens of this version; of many at once exactly one gets it. */
export async function claimLease(
  sql: Sql,
  { user_id, token_version }: Pick<IdentityRow, 'user_id' | 'token_version'>,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const claimed = await sql
    .updateTable('identities')
    .set({ lease_until: until })
    .where('user_id', '=', user_id)
    .where('token_version', '=', token_version)
    .where((row) => row('lease_until', 'is', null).or('lease_until', '<', now))
    .returning('user_id')
    .execute();
  return claimed.length === 1;
}

/** Ends the lease with new tokens, unless a login has replaced the version that was refreshed. */
export function storeRefreshedTokens(
  sql: Sql,
  { user_id, token_version }: Pick<IdentityRow, 'user_id' | 'token_version'>,
  tokens: Partial<SealedTokens>,
): Promise<IdentityRow | undefined> {
  return sql
    .updateTable('identities')
    .set(({ eb }) => ({
      ...tokens,
      token_version: eb('token_version', '+', 1),
      lease_until: null,
    }))
    .where('user_id', '=', user_id)
    .where('token_version', '=', token_version)
    .returningAll()
    .executeTakeFirst();
}

/** Drops the tokens; false when they were replaced meanwhile, or are just being refreshed. */
export async function dropTokens(
  sql: Sql,
  { user_id, token_version }: Pick<IdentityRow, 'user_id' | 'token_version'>,
  now: Date,
): Promise<boolean> {
  const dropped = await sql
    .updateTable('identities')
    .set(({ eb }) => ({ ...noTokens, token_version: eb('token_version', '+', 1) }))
    .where('user_id', '=', user_id)
    .where('token_version', '=', token_version)
    .where((row) => row('lease_until', 'is', null).or('lease_until', '<', now))
    .returning('user_id')
    .execute();
  return dropped.length === 1;
}

/** Ends the lease with the tokens as they are. */
export async function releaseLease(
  sql: Sql,
  { user_id, token_version }: Pick<IdentityRow, 'user_id' | 'token_version'>,
): Promise<void> {
  await sql
    .updateTable('identities')
    .set({ lease_until: null })
    .where('user_id', '=', user_id)
    .where('token_version', '=', token_version)
    .execute();
}
