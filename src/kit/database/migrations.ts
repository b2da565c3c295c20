import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { DatabaseError } from 'pg';
import { Fault } from '../errors.ts';
import { runInTransaction, type Connection, type Connections } from './connections.ts';

export interface MigrationPlace {
  readonly schema: string;
  /** Holds `001-name.sql`, `002-name.sql`, …; other files that do not end in .sql are ignored. */
  readonly folder: URL;
}

interface Migration {
  readonly name: string;
  readonly script: string;
  readonly checksum: string;
}

/**
 * Applies what is missing in `<schema>.migration`, in order, each file in a transaction of its own
 * under an advisory lock, so that replicas may start together. Returns the names newly applied.
 * A gap in the numbers, a file changed after it was applied, and an applied file that is missing
 * here (the database is newer than this code) are Faults, before anything is changed.
 */
export async function applyMigrations(
  connections: Connections,
  place: MigrationPlace,
): Promise<string[]> {
  const schema = quoteName(place.schema);
  const migrations = await readMigrations(place.folder);
  await underLock(connections, (connection) =>
    connection.runScript(`
    create schema if not exists ${schema};
    create table if not exists ${schema}.migration (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())
  `),
  );
  const applied: string[] = [];
  for (;;) {
    const name = await underLock(connections, (connection) =>
      applyNext(connection, { schema, migrations }),
    );
    if (name === undefined) return applied;
    applied.push(name);
  }
}

/** Another replica may have applied some meanwhile, so the state is read under the lock each time. */
async function applyNext(
  connection: Connection,
  { schema, migrations }: { readonly schema: string; readonly migrations: readonly Migration[] },
): Promise<string | undefined> {
  const { rows } = await connection.run<{ name: string; checksum: string }>(
    `select name, checksum from ${schema}.migration order by name`,
    [],
  );
  rows.forEach((row, index) => verifyApplied(schema, { row, migration: migrations[index] }));
  const next = migrations[rows.length];
  if (!next) return undefined;
  await connection.runScript(next.script).catch((cause: unknown) => {
    throw explainFailure(`${schema}/${next.name}`, { cause, script: next.script });
  });
  const insert = `insert into ${schema}.migration (name, checksum) values ($1, $2)`;
  await connection.run(insert, [next.name, next.checksum]);
  return next.name;
}

function verifyApplied(
  schema: string,
  {
    row,
    migration,
  }: {
    readonly row: { readonly name: string; readonly checksum: string };
    readonly migration: Migration | undefined;
  },
): void {
  if (migration?.name !== row.name) {
    const message = `the database is newer than this program: migration ${schema}/${row.name} is unknown`;
    throw new Fault('conflict', message);
  }
  if (migration.checksum === row.checksum) return;
  throw new Fault('conflict', `migration ${schema}/${row.name} changed after it was applied`);
}

/** The lock belongs to the transaction, so it also works behind a pooler and ends with a crash. */
function underLock<Value>(
  connections: Connections,
  work: (connection: Connection) => Promise<Value>,
): Promise<Value> {
  const lockAndWork = async (connection: Connection) => {
    // A replica may wait here for another's long migration.
    await connection.runScript('set local statement_timeout = 0');
    await connection.run("select pg_advisory_xact_lock(hashtextextended('migration', 0))", []);
    return work(connection);
  };
  return runInTransaction(connections, lockAndWork, { isPatient: true });
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const path = fileURLToPath(folder);
  const names = (await readdir(path)).filter((name) => name.endsWith('.sql')).toSorted();
  names.forEach(verifyName);
  return Promise.all(
    names.map(async (name) => {
      // A checkout on Windows may have turned the ends of lines.
      const script = (await readFile(join(path, name), 'utf8')).replaceAll('\r\n', '\n');
      const checksum = createHash('sha256').update(script).digest('hex');
      return { name, script, checksum };
    }),
  );
}

function verifyName(name: string, index: number): void {
  if (!/^\d{3}-[a-z0-9]+(?:-[a-z0-9]+)*\.sql$/.test(name)) {
    throw new Fault('internal', `the migration ${name} is not named like 001-name.sql`);
  }
  const expected = String(index + 1).padStart(3, '0');
  if (name.startsWith(expected)) return;
  throw new Fault('internal', `migration ${expected} is missing before ${name}`);
}

function explainFailure(
  title: string,
  { cause, script }: { readonly cause: unknown; readonly script: string },
): unknown {
  if (!(cause instanceof DatabaseError)) return cause;
  const place = cause.position === undefined ? '' : ` in line ${lineOf(script, cause.position)}`;
  return new Fault('internal', `migration ${title} failed${place}: ${cause.message}`, { cause });
}

/** PostgreSQL counts the characters of the script from 1, which may differ from JavaScript's. */
function lineOf(script: string, position: string): number {
  const before = Array.from(script).slice(0, Number(position) - 1);
  return before.filter((character) => character === '\n').length + 1;
}

/** Schemas are named by code, so anything but a plain name is a mistake there. */
function quoteName(schema: string): string {
  if (/^[a-z][a-z0-9_]{0,62}$/.test(schema)) return schema;
  throw new Fault('internal', `${schema} is no name for a schema`);
}
