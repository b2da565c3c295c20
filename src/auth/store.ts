import { sql as raw } from 'kysely';
import type { Sql, SqlTransaction } from './tables.ts';

/** Runs the work in one transaction; whatever it throws undoes it and comes out unchanged. */
export function inTransaction<T>(sql: Sql, work: (trx: SqlTransaction) => Promise<T>): Promise<T> {
  return sql.transaction().execute(work);
}

/** Makes other replicas that lock the same name wait until the transaction ends. */
export async function lock(trx: SqlTransaction, name: string): Promise<void> {
  await raw`select pg_advisory_xact_lock(hashtextextended(${`auth ${name}`}, 0))`.execute(trx);
}
