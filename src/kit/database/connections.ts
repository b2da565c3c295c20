import type { ClientBase, Pool, QueryResult, QueryResultRow } from 'pg';
import { Fault } from '../errors.ts';
import { translateError } from './sql-errors.ts';

/** The answer to one statement. */
export interface StatementResult<Row> {
  readonly rows: Row[];
  /** Rows inserted, updated, deleted or merged; undefined for any other statement. */
  readonly affectedCount: bigint | undefined;
}

export interface RunOptions {
  /**
   * Planned for its parameters each time, also when it is run over and over: for statements whose best
   * plan depends on how common a value is. Planning costs about as much as a small statement.
   */
  readonly isPlannedAnew?: boolean;
}

/** Something that runs SQL. */
export interface Connection {
  /** Runs exactly one statement; a text with several is refused by the database. */
  run<Row>(
    text: string,
    parameters: readonly unknown[],
    options?: RunOptions,
  ): Promise<StatementResult<Row>>;
  /** Runs a text of any number of statements, in one implicit transaction unless one is open. */
  runScript(text: string): Promise<void>;
}

/** A connection that its holder uses alone, for one transaction. */
export interface ReservedConnection extends Connection {
  /** Gives the connection back; a transaction that is still open is rolled back. */
  release(): void;
}

export interface ReserveOptions {
  /** True for work that may take its time, such as a migration: the driver never gives up on it. */
  readonly isPatient?: boolean;
}

/** The connections to one database; what is run on it directly stands outside any transaction. */
export interface Connections extends Connection, AsyncDisposable {
  readonly dialect: 'pglite' | 'postgres';
  reserve(options?: ReserveOptions): Promise<ReservedConnection>;
}

/**
 * Runs `work` in a transaction of its own: committed when it resolves, rolled back when it throws.
 */
export async function runInTransaction<Value>(
  connections: Connections,
  work: (connection: Connection) => Promise<Value>,
  options?: ReserveOptions,
): Promise<Value> {
  const connection = await connections.reserve(options);
  try {
    await connection.runScript('begin');
    const value = await work(connection);
    await connection.runScript('commit');
    return value;
  } finally {
    connection.release();
  }
}

/** Refuses `begin` outside a reserved connection: nothing would hold the connection for it. */
export function refuseBegin(text: string): void {
  if (!/^\s*(?:begin|start\s+transaction)\b/i.test(text)) return;
  throw new Fault('internal', 'a transaction starts through Kysely, never through a statement');
}

/** What node-postgres takes besides the statement. */
export interface DriverOptions {
  /** Milliseconds without an answer after which the driver gives up; the pool's own when absent. */
  readonly query_timeout?: number;
}

/** One statement of a text and its parameters. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
  /** By which the session keeps it, prepared; always the same for one text. */
  readonly name?: string | undefined;
}

/** Runs one statement on a node-postgres client or pool, with the errors of this folder. */
export async function runStatement<Row>(
  client: ClientBase | Pool,
  { text, parameters, name }: Statement,
  options?: DriverOptions,
): Promise<StatementResult<Row>> {
  // Extended mode takes one statement only, so a text cannot smuggle in a second one.
  const named = name === undefined ? {} : { name };
  const query = { ...options, ...named, text, values: [...parameters], queryMode: 'extended' };
  try {
    const result = await client.query<Row & QueryResultRow>(query);
    return { rows: result.rows, affectedCount: affectedCountOf(result) };
  } catch (error) {
    throw translateError(error);
  }
}

/** Runs a script on a node-postgres client or pool, with the errors of this folder. */
export async function runScriptOn(
  client: ClientBase | Pool,
  text: string,
  options?: DriverOptions,
): Promise<void> {
  try {
    await client.query({ ...options, text });
  } catch (error) {
    throw translateError(error);
  }
}

const countingCommands = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function affectedCountOf(result: QueryResult): bigint | undefined {
  if (!countingCommands.has(result.command)) return undefined;
  return BigInt(result.rowCount ?? 0);
}
