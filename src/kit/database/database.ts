import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import type { Log } from '../log.ts';
import type { Connections, RunOptions } from './connections.ts';
import { lockDataFolder } from './data-folder.ts';
import { createDialect } from './kysely-dialect.ts';
import { applyMigrations } from './migrations.ts';
import { openPglite, type PgliteOptions, type PgliteSize } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import { databaseAway } from './sql-errors.ts';
import { Upkeep } from './upkeep.ts';

/**
 * The database as every service sees it, the same on PGlite and on PostgreSQL. Disposing it waits
 * for running statements and closes it; later calls are refused with a Fault `unavailable`.
 */
export interface Database extends AsyncDisposable {
  readonly dialect: 'pglite' | 'postgres';
  /**
   * Typed SQL on one service's own schema. A transaction is Kysely's `.transaction()`; inside it
   * run statements on the transaction only: on PGlite, which has one connection, any other waits
   * for its end and is refused with a Fault `deadline` after 30 s.
   */
  kysely<Tables>(schema: string): Kysely<Tables>;
  /**
   * One statement of raw SQL. Objects become JSON, arrays become SQL arrays (so a JSON array must
   * be passed as its text), undefined becomes null, Buffers become bytea.
   */
  query<Row>(text: string, parameters?: readonly unknown[], options?: RunOptions): Promise<Row[]>;
  /**
   * Applies the numbered .sql files of a folder to a schema and returns the names of those newly
   * applied; see `applyMigrations` for what is refused.
   */
  migrate(schema: string, folder: URL): Promise<string[]>;
  /**
   * Milliseconds of one round trip, which those who ask at the same time share; a Fault
   * `unavailable` when the database has not answered within a second.
   */
  ping(): Promise<number>;
}

export interface OpenOptions {
  /** `postgres://…` of a PostgreSQL server; its absence means PGlite. */
  readonly url?: string | undefined;
  /**
   * Where PGlite keeps its files and a lock; without it and without `url` the database lives in a
   * temporary folder that closing removes.
   */
  readonly folder?: string | undefined;
  /** Memory for pages of tables and indexes, 32 MB by default. PGlite only. */
  readonly cacheMegabytes?: number | undefined;
  readonly log?: Log | undefined;
  /** Connections to PostgreSQL, 10 by default. PGlite always has one. */
  readonly connectionsMax?: number | undefined;
  /**
   * How long a statement may run, 10 s by default; a server that says nothing for a second more is
   * given up on with a Fault `unavailable`. PostgreSQL only: PGlite cannot interrupt a statement.
   */
  readonly statementTimeoutMs?: number | undefined;
}

const pingMaxMs = 1_000;

/** Opens PostgreSQL when there is a `url`, else PGlite. The caller owns the result. */
export async function openDatabase(options: OpenOptions = {}): Promise<Database> {
  return databaseOver(await connect(options), options.log);
}

/** The database that connections lead to; disposing it disposes them. */
export function databaseOver(connections: Connections, log?: Log): Database {
  return new ConnectedDatabase(connections, log);
}

class ConnectedDatabase implements Database {
  readonly dialect: 'pglite' | 'postgres';
  readonly #connections: Connections;
  readonly #kysely: Kysely<unknown>;
  readonly #upkeep: Upkeep | undefined;
  #pinging: Promise<number> | undefined;

  constructor(connections: Connections, log: Log | undefined) {
    this.dialect = connections.dialect;
    this.#connections = connections;
    this.#kysely = new Kysely({ dialect: createDialect(connections) });
    if (connections.dialect === 'pglite') this.#upkeep = new Upkeep(connections, log);
  }

  kysely<Tables>(schema: string): Kysely<Tables> {
    // The tables are the caller's claim; nothing here depends on them.
    return this.#kysely.withSchema(schema) as Kysely<Tables>;
  }

  async query<Row>(
    text: string,
    parameters: readonly unknown[] = [],
    options: RunOptions = {},
  ): Promise<Row[]> {
    const { rows } = await this.#connections.run<Row>(text, parameters, options);
    return rows;
  }

  migrate(schema: string, folder: URL): Promise<string[]> {
    return applyMigrations(this.#connections, { schema, folder });
  }

  ping(): Promise<number> {
    // Shared, so that probes cannot take all connections to a server that does not answer.
    this.#pinging ??= this.#ping().finally(() => {
      this.#pinging = undefined;
    });
    return refuseAfter(pingMaxMs, this.#pinging);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upkeep?.stop();
    await this.#connections[Symbol.asyncDispose]();
  }

  async #ping(): Promise<number> {
    const startMs = performance.now();
    await this.#connections.run('select 1', []);
    return performance.now() - startMs;
  }
}

async function refuseAfter<Value>(limitMs: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const refusal = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(databaseAway()), limitMs);
  });
  return Promise.race([work, refusal]).finally(() => clearTimeout(timer));
}

async function connect(options: OpenOptions): Promise<Connections> {
  const { url, folder, log, cacheMegabytes } = options;
  if (url !== undefined) {
    const { connectionsMax = 10, statementTimeoutMs = 10_000 } = options;
    return openPostgres({ url, log, connectionsMax, statementTimeoutMs });
  }
  if (folder === undefined) return openTemporary({ log, cacheMegabytes });
  const lock = await lockDataFolder(folder);
  const close = () => Promise.resolve(lock[Symbol.asyncDispose]());
  return openPglite(folder, { log, cacheMegabytes, close });
}

async function openTemporary(
  options: Pick<PgliteOptions, 'log'> & PgliteSize,
): Promise<Connections> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-database-'));
  const close = () => rm(folder, { recursive: true, force: true });
  return openPglite(folder, { ...options, close });
}
