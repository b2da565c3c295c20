import { sql as raw } from 'kysely';
import type { ApiKeyRow, Sql } from '../tables.ts';

export async function insertApiKey(sql: Sql, key: ApiKeyRow): Promise<void> {
  await sql.insertInto('api_keys').values(columnsOf(key)).execute();
}

/** As they are written: the driver would make an array of SQL of an array of JSON. */
function columnsOf<Row extends Partial<ApiKeyRow>>(row: Row): Row {
  const { former_secrets: former } = row;
  return former ? { ...row, former_secrets: JSON.stringify(former) } : row;
}

export function findApiKey(sql: Sql, id: string): Promise<ApiKeyRow | undefined> {
  return sql.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The key, locked until the transaction ends. */
export function findApiKeyForUpdate(trx: Sql, id: string): Promise<ApiKeyRow | undefined> {
  return trx.selectFrom('api_keys').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/**
 * One page, the newest key first, revoked ones included, and how many there are: all, or the service
 * keys that somebody made. Delegated ones that have ended are left out, as there is one for each agent.
 */
export async function listApiKeys(
  sql: Sql,
  page: {
    readonly limit: number;
    readonly offset: number;
    readonly madeBy?: string | undefined;
  },
): Promise<{ keys: ApiKeyRow[]; total: number }> {
  const { madeBy } = page;
  const shown = sql.selectFrom('api_keys').where(
    raw<boolean>`not (kind = 'service' and starts_with(service, owner_id || '-')
      and (revoked_at is not null or coalesce(expires_at <= now(), false)))`,
  );
  const meant =
    madeBy === undefined
      ? shown
      : shown.where('owner_id', '=', madeBy).where('kind', '=', 'service');
  const [keys, { total }] = await Promise.all([
    meant.selectAll().orderBy('id', 'desc').limit(page.limit).offset(page.offset).execute(),
    meant.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { keys, total };
}

/** The key as it is then; undefined when it is gone. */
export function updateApiKey(
  sql: Sql,
  id: string,
  changes: Partial<ApiKeyRow>,
): Promise<ApiKeyRow | undefined> {
  return sql
    .updateTable('api_keys')
    .set(columnsOf(changes))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the keys of a delegate that ended before; the audit log still tells of them. */
export async function deleteEndedKeys(sql: Sql, madeBy: string, before: Date): Promise<void> {
  await sql
    .deleteFrom('api_keys')
    .where('owner_id', '=', madeBy)
    .where('kind', '=', 'service')
    .where((eb) => eb.or([eb('revoked_at', '<', before), eb('expires_at', '<', before)]))
    .execute();
}

/** Revokes the keys that act for a user; the answer is those that were good until now. */
export function revokeUserKeys(sql: Sql, userId: string, at: Date): Promise<ApiKeyRow[]> {
  return sql
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('owner_id', '=', userId)
    .where('kind', '=', 'user')
    .where('revoked_at', 'is', null)
    .returningAll()
    .execute();
}

/** Revokes all keys of one service and owner but one; the answer is those revoked now. */
export function revokeOtherKeys(
  sql: Sql,
  keep: Pick<ApiKeyRow, 'id' | 'service' | 'owner_id'>,
  at: Date,
): Promise<ApiKeyRow[]> {
  return sql
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('service', '=', keep.service)
    .where('owner_id', '=', keep.owner_id)
    .where('id', '!=', keep.id)
    .where('revoked_at', 'is', null)
    .returningAll()
    .execute();
}

/** Notes when keys were last used, all in one statement. */
export async function markApiKeysUsed(sql: Sql, usedAt: ReadonlyMap<string, Date>): Promise<void> {
  await raw`
    update auth.api_keys k set last_used_at = used.at
    from unnest(${[...usedAt.keys()]}::text[], ${[...usedAt.values()]}::timestamptz[]) as used (id, at)
    where k.id = used.id
  `.execute(sql);
}
