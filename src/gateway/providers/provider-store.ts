import type { Kysely, Transaction } from 'kysely';
import type { ProviderSettings } from './settings.ts';

/** A provider as it was put, less what is secret. */
export type PlainSettings = Omit<ProviderSettings, 'apiKey' | 'apiKeys' | 'headers'>;

export interface ProviderRow {
  name: string;
  settings: PlainSettings;
  /** Sealed JSON of keys and headers; null for none. */
  secrets: string | null;
  updated_at: Date;
}

export interface ProviderTables {
  providers: ProviderRow;
}

export type ProviderSql = Kysely<ProviderTables>;
type Trx = Transaction<ProviderTables>;

/** Runs the work in one transaction; whatever it throws undoes it and comes out unchanged. */
export function inTransaction<T>(sql: ProviderSql, work: (trx: Trx) => Promise<T>): Promise<T> {
  return sql.transaction().execute(work);
}

export function listProviderRows(sql: ProviderSql): Promise<ProviderRow[]> {
  return sql.selectFrom('providers').selectAll().orderBy('name').execute();
}

/** The row of a provider, which no other replica changes until the transaction ends. */
export function lockProviderRow(trx: Trx, name: string): Promise<ProviderRow | undefined> {
  const row = trx.selectFrom('providers').selectAll().where('name', '=', name);
  return row.forUpdate().executeTakeFirst();
}

/** Whether anything is sealed already. */
export async function hasSecrets(sql: ProviderSql): Promise<boolean> {
  const row = await sql
    .selectFrom('providers')
    .select('name')
    .where('secrets', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores a provider in place of the one that had its name. */
export async function saveProviderRow(sql: ProviderSql, row: ProviderRow): Promise<void> {
  const { name: _name, ...changes } = row;
  await sql
    .insertInto('providers')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(changes))
    .execute();
}

/** False when there was none. */
export async function deleteProviderRow(sql: ProviderSql, name: string): Promise<boolean> {
  const gone = await sql
    .deleteFrom('providers')
    .where('name', '=', name)
    .returning('name')
    .execute();
  return gone.length === 1;
}
