import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { Fault } from '../errors.ts';
import type { Connections, ReservedConnection } from './connections.ts';

/** Kysely's PostgreSQL dialect over our connections, the same for both databases. */
export function createDialect(connections: Connections): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new ConnectionsDriver(connections),
    createIntrospector: (kysely: Kysely<unknown>) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** What Kysely calls a connection: it becomes a reserved one only when a transaction begins. */
class LazyConnection implements DatabaseConnection {
  readonly #connections: Connections;
  #reserved: ReservedConnection | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const target = this.#reserved ?? this.#connections;
    const { rows, affectedCount } = await target.run<Row>(query.sql, query.parameters);
    return affectedCount === undefined ? { rows } : { rows, numAffectedRows: affectedCount };
  }

  // Kysely wants a generator; the interface of this folder has no cursors.
  // oxlint-disable-next-line require-yield
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Fault('unimplemented', 'rows are read in pages, not streamed');
  }

  async reserve(): Promise<void> {
    this.#reserved = await this.#connections.reserve();
  }

  release(): void {
    this.#reserved?.release();
    this.#reserved = undefined;
  }
}

class ConnectionsDriver implements Driver {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LazyConnection> {
    return new LazyConnection(this.#connections);
  }

  async beginTransaction(connection: LazyConnection, settings: TransactionSettings): Promise<void> {
    await connection.reserve();
    const level = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : '';
    const access = settings.accessMode ? ` ${settings.accessMode}` : '';
    await connection.executeQuery(CompiledQuery.raw(`start transaction${level}${access}`));
  }

  async commitTransaction(connection: LazyConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: LazyConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(connection: LazyConnection): Promise<void> {
    connection.release();
  }

  /** The connections belong to the Database that created this driver. */
  async destroy(): Promise<void> {}
}
