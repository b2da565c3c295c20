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
] as const;

/**
 * Stores revocations. Under a lock, so that a number never becomes visible before a smaller one and
 * a reader that asks for all after N misses none.
 */
export async function insertRevocations(
  trx: SqlTransaction,
  revocations: readonly Revocation[],
): Promise<void> {
  if (revocations.length === 0) return;
  await lock(trx, 'revocations');
  const rows = revocations.map(({ kind, id, revokedAt, expiresAt, planned = false }) => ({
    kind,
    id,
    revoked_at: revokedAt,
    expires_at: expiresAt,
    planned,
  }));
  await trx.insertInto('revocations').values(rows).execute();
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
    revocations: rows.map(({ kind, id, revokedAt, expiresAt, planned }) => ({
      kind,
      id,
      revokedAt,
      expiresAt,
      ...(planned ? { planned } : {}),
    })),
    next: rows.at(-1)?.seq ?? page.after,
  };
}

export async function deleteExpiredRevocations(sql: Sql, nowSeconds: number): Promise<void> {
  await sql.deleteFrom('revocations').where('expires_at', '<', nowSeconds).execute();
}
