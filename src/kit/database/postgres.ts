import { Pool, type PoolClient } from 'pg';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import {
  refuseBegin,
  runScriptOn,
  runStatement,
  type Connections,
  type DriverOptions,
  type ReservedConnection,
  type ReserveOptions,
  type StatementResult,
} from './connections.ts';
import { databaseAway, sqlState, translateError } from './sql-errors.ts';
import { valueParsers } from './sql-values.ts';

/** How PostgreSQL is reached. */
export interface PostgresOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /**
   * The server ends a statement that takes longer; the driver gives up on a server that has said
   * nothing a second later.
   */
  readonly statementTimeoutMs: number;
  readonly log: Log | undefined;
}

/** The oldest server that this code is tested with, in the form of server_version_num. */
const oldestVersion = 150_000;

const connectTimeoutMs = 5_000;

/** How much later than the server the driver gives up, so that a live server has the last word. */
const answerMarginMs = 1_000;

/** No limit, said as the longest that a timer can be: the driver takes 0 for its own default. */
const patient: DriverOptions = { query_timeout: 2 ** 31 - 1 };

/**
 * Connects to a PostgreSQL server, 15 or newer; when that fails, a Fault `unavailable` names host
 * and database but no password.
 */
export async function openPostgres(options: PostgresOptions): Promise<Connections> {
  const place = describePlace(options.url);
  const pool = new Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + answerMarginMs,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'ennead',
    types: valueParsers,
  });
  // An idle connection that the server closes; the pool opens another when one is needed.
  pool.on('error', (err) => options.log?.warn({ err }, 'a database connection was lost'));
  try {
    await checkVersion(pool, place);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresConnections(pool, options.log);
}

class PostgresConnections implements Connections {
  readonly dialect = 'postgres';
  readonly #pool: Pool;
  readonly #log: Log | undefined;

  constructor(pool: Pool, log: Log | undefined) {
    this.#pool = pool;
    this.#log = log;
  }

  async run<Row>(text: string, parameters: readonly unknown[]): Promise<StatementResult<Row>> {
    refuseBegin(text);
    return runStatement<Row>(this.#pool, { text, parameters });
  }

  async runScript(text: string): Promise<void> {
    refuseBegin(text);
    await runScriptOn(this.#pool, text);
  }

  async reserve({ isPatient = false }: ReserveOptions = {}): Promise<ReservedConnection> {
    const client = await this.#connect();
    return new ReservedClient(client, { log: this.#log, driver: isPatient ? patient : {} });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw translateError(error);
    }
  }
}

/** A connection of the pool; once lost, or given up on, it answers nothing more and is ended. */
class ReservedClient implements ReservedConnection {
  readonly #client: PoolClient;
  readonly #log: Log | undefined;
  readonly #driver: DriverOptions;
  #loss: Fault | undefined;

  constructor(
    client: PoolClient,
    { log, driver }: { readonly log: Log | undefined; readonly driver: DriverOptions },
  ) {
    this.#client = client;
    this.#log = log;
    this.#driver = driver;
    // The pool listens to idle connections only, and an unheard error would end the process.
    client.on('error', this.#onLoss);
  }

  run<Row>(text: string, parameters: readonly unknown[]): Promise<StatementResult<Row>> {
    return this.#unlessLost(() => runStatement(this.#client, { text, parameters }, this.#driver));
  }

  runScript(text: string): Promise<void> {
    return this.#unlessLost(() => runScriptOn(this.#client, text, this.#driver));
  }

  /** A connection with an open transaction is ended, which rolls back. */
  release(): void {
    const isOpen = this.#client.getTransactionStatus() !== 'I';
    this.#client.release(this.#loss !== undefined || isOpen);
    this.#client.off('error', this.#onLoss);
  }

  /** What follows a statement without an answer, a rollback first, would wait behind it. */
  async #unlessLost<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#loss !== undefined) throw this.#loss;
    try {
      return await work();
    } catch (error) {
      if (error instanceof Fault && error.code === 'unavailable') this.#loss = error;
      throw error;
    }
  }

  readonly #onLoss = (err: Error): void => {
    this.#loss ??= databaseAway(err);
    this.#log?.warn({ err }, 'a database connection was lost in a transaction');
  };
}

async function checkVersion(pool: Pool, place: string): Promise<void> {
  const version = await readVersion(pool).catch((cause: unknown) => {
    const message = `cannot use the PostgreSQL at ${place}: ${reasonOf(cause)}`;
    throw new Fault('unavailable', message, { cause });
  });
  if (version >= oldestVersion) return;
  const major = Math.floor(version / 10_000);
  throw new Fault('unavailable', `the PostgreSQL at ${place} is ${major}; 15 or newer is needed`);
}

async function readVersion(pool: Pool): Promise<number> {
  const text = "select current_setting('server_version_num') as version";
  const { rows } = await pool.query<{ version: string }>(text);
  return Number(rows[0]?.version);
}

/** A connection error's own sentence can be empty (AggregateError) and never holds the password. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown reason';
  const code = sqlState(cause) ?? ('code' in cause ? String(cause.code) : '');
  return [cause.message, code && `(${code})`].filter(Boolean).join(' ');
}

function describePlace(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && isCutInPassword(parsed)) {
    const message =
      'the password in the database URL holds characters that have to be percent-encoded';
    throw new Fault('invalid', message);
  }
  if (parsed?.protocol === 'postgres:' || parsed?.protocol === 'postgresql:') {
    return `${parsed.hostname}:${parsed.port || 5432}${parsed.pathname}`;
  }
  const form = 'postgres://user:password@host:5432/name';
  throw new Fault('invalid', `the database URL has not the form ${form}`);
}

/** What stands behind the host would be a piece of the password, and must not be told as a place. */
function isCutInPassword({ pathname, search, hash }: URL): boolean {
  return [pathname, search, hash].some((part) => part.includes('@'));
}
