import { openDatabase, type Database } from '../../kit/database/database.ts';

/** PGlite, or the PostgreSQL server that the environment names for a run of its own; empty tables. */
export async function openGatewayDatabase(): Promise<Database> {
  const isPostgres = process.env['ENNEAD_TEST_DATABASE'] === 'postgres';
  const url = isPostgres ? process.env['ENNEAD_TEST_POSTGRES_URL'] : undefined;
  const database = await openDatabase(url === undefined ? {} : { url });
  await database.query('drop schema if exists gateway cascade');
  await database.migrate('gateway', new URL('../migrations/', import.meta.url));
  return database;
}
