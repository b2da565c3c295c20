import { spawn, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { openDatabase, type Database } from './database.ts';
import { TestPool } from './pool-testing.ts';

/** A database that a suite of tests runs on. */
export interface TestDatabase {
  /** Says why when the suite is skipped. */
  readonly title: string;
  readonly isAvailable: boolean;
  readonly open: () => Promise<Database>;
}

/**
 * The databases that everything with SQL in it is tested on: PGlite always, PostgreSQL when the
 * caller has the URL of a server, which is ENNEAD_TEST_POSTGRES_URL.
 */
export function listTestDatabases(postgresUrl: string | undefined): TestDatabase[] {
  const isAvailable = postgresUrl !== undefined;
  const title = isAvailable ? 'PostgreSQL' : 'PostgreSQL: ENNEAD_TEST_POSTGRES_URL is not set';
  return [
    { title: 'PGlite', isAvailable: true, open: () => openDatabase() },
    { title, isAvailable, open: () => openDatabase({ url: postgresUrl }) },
  ];
}

// Of the thread: its test files run one after the other, each in turn with the same databases.
const pool = new TestPool();

/** PGlite with nothing in it. */
export function openEmptyDatabase(): Promise<Database> {
  return pool.lend();
}

/** The same, or the PostgreSQL server that the environment names for a run of its own. */
export function openTestDatabase(): Promise<Database> {
  const isPostgres = process.env['ENNEAD_TEST_DATABASE'] === 'postgres';
  const url = isPostgres ? process.env['ENNEAD_TEST_POSTGRES_URL'] : undefined;
  return url === undefined ? openEmptyDatabase() : openDatabase({ url });
}

/** The same with a service's empty tables, whatever was in its schema before. */
export async function openTestTables(schema: string, migrations: URL): Promise<Database> {
  const database = await openTestDatabase();
  await emptySchema(database, schema, migrations);
  return database;
}

/** Drops whatever is in a schema and makes its tables. */
export async function emptySchema(
  database: Database,
  schema: string,
  migrations: URL,
): Promise<void> {
  await database.query(`drop schema if exists ${schema} cascade`);
  await database.migrate(schema, migrations);
}

/** A database as one that other processes write to as well, which PGlite's never is; not to be disposed of. */
export function asShared(database: Database): Database {
  return {
    dialect: 'postgres',
    kysely: (schema) => database.kysely(schema),
    query: (...given) => database.query(...given),
    migrate: (...given) => database.migrate(...given),
    ping: () => database.ping(),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A process that runs the text of a test's module. */
export type ModuleProcess = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs the text of a module in a process of its own: `open('./database.ts')` imports a file of this
 * folder, `parameters` are there as an array of strings. The caller ends the process.
 */
export function spawnModule(
  text: string,
  parameters: readonly string[],
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'env'> = {},
): ModuleProcess {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const folder = new URL('./', import.meta.url).href;
  const prelude = `
    import { writeSync } from 'node:fs';
    const parameters = process.argv.slice(1);
    const open = (name) => import(new URL(name, ${JSON.stringify(folder)}).href);
    const print = (line) => writeSync(1, line + '\\n');
  `;
  const flags = ['--import', loader, '--input-type=module', '--eval', prelude + text];
  return spawn(process.execPath, [...flags, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
}

/** All that a process prints until it ends, its complaints after its output. */
export async function readOutput(child: ModuleProcess): Promise<string> {
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  await once(child, 'close');
  return output + complaints;
}
