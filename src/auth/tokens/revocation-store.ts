import { sql as raw } from 'kysely';
import type { Revocation } from '../../kit/identity/revocations.ts';
import type { RevocationPage } from '../../kit/identity/revocation-feed.ts';
import { lock } from '../store.ts';
import type { Sql, SqlTransaction } from '../tables.ts';

const columns = [
  'kind',
  'id',
  'revoked_at as revokedAt',
  'expires_at as expiresAt',
  'planned',
  'token_epoch as tokenEpoch',
] as const;

/**
 * Stores revocations, and begins another epoch for the tokens of each subject; answers them with it.
 * Under a lock, so that a number never becomes visible before a smaller one and a reader that asks for
 * all after N misses none.
 */
export async function insertRevocations(
  trx: SqlTransaction,
  wanted: readonly Revocation[],
): Promise<readonly Revocation[]> {
  if (wanted.length === 0) return [];
  const subjects = wanted.filter(({ kind }) => kind === 'subject').map(({ id }) => id);
  const epochs = await beginTokenEpochs(trx, subjects);
  const revocations = wanted.map((revocation) => {
    const tokenEpoch = revocation.kind === 'subject' ? epochs.get(revocation.id) : undefined;
    return tokenEpoch === undefined ? revocation : { ...revocation, tokenEpoch };
  });
  await lock(trx, 'revocations');
  const rows = revocations.map(({ kind, id, revokedAt, expiresAt, planned, tokenEpoch }) => ({
    kind,
    id,
    revoked_at: revokedAt,
    expires_at: expiresAt,
    planned: planned ?? false,
    token_epoch: tokenEpoch ?? null,
  }));
  await trx.insertInto('revocations').values(rows).execute();
  return revocations;
}

/** Lets the next tokens of users be of another epoch, and answers it; users who are gone get none. */
async function beginTokenEpochs(
  trx: SqlTransaction,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await raw<{ id: string; token_epoch: number }>`
    update auth.users u set token_epoch = u.token_epoch + 1
    from (
      select id from auth.users where id = any(${userIds}::text[])
      order by id for no key update
    ) as held
    where u.id = held.id
    returning u.id, u.token_epoch
  `.execute(trx);
  return new Map(rows.map(({ id, token_epoch }) => [id, token_epoch] as const));
}

/** A page of the revocations after a number that can still matter. */
export async function readRevocations(
  sql: Sql,
  page: { readonly after: number; readonly limit: number; readonly nowSeconds: number },
): Promise<RevocationPage> {
  const rows = await sql
    .selectFrom('revocations')
    .select([...columns, 'seq'])
    .where('seq', '>', page.after)
    .where('expires_at', '>', page.nowSeconds)
    .orderBy('seq')
    .limit(page.limit)
    .execute();
  return {
    revocations: rows.map(({ kind, id, revokedAt, expiresAt, planned, tokenEpoch }) => ({
      kind,
      id,
      revokedAt,
      expiresAt,
      ...(planned ? { planned } : {}),
      ...(tokenEpoch === null ? {} : { tokenEpoch }),
    })),
    next: rows.at(-1)?.seq ?? page.after,
  };
}

export async function deleteExpiredRevocations(sql: Sql, nowSeconds: number): Promise<void> {
  await sql.deleteFrom('revocations').where('expires_at', '<', nowSeconds).execute();
}
