import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { ConnectionRow } from './connection-row.ts';
import { insertConnections, type ConnectionSql } from './connection-store.ts';
import type { ConnectionDirectory } from './directory.ts';

type NewRow = Omit<ConnectionRow, 'revision'>;

interface Order {
  readonly row: NewRow;
  stored: ConnectionRow | undefined;
}

export interface EnrolmentOptions {
  readonly sql: ConnectionSql;
  readonly directory: ConnectionDirectory;
  readonly connectionsMax: number;
  /** Told of what was stored, before those who asked for it. */
  readonly onStored: (rows: readonly ConnectionRow[]) => void;
}

/** Stores new connections, those that come together in one statement. */
export class Enrolment implements AsyncDisposable {
  readonly #options: EnrolmentOptions;
  readonly #batch: Batch<Order>;
  #pendingCount = 0;

  constructor(options: EnrolmentOptions) {
    this.#options = options;
    this.#batch = createBatch<Order>({
      flush: (orders) => this.#store(orders),
      maxItems: 500,
      maxDelayMs: 2,
      maxPending: 20_000,
    });
  }

  /** Resolves once it is stored; refuses with `conflict` (`name_taken`) a name that another has. */
  async enrol(row: NewRow): Promise<ConnectionRow> {
    this.requireFree(row.name);
    const order: Order = { row, stored: undefined };
    this.#pendingCount += 1;
    try {
      await this.#batch.add(order);
    } finally {
      this.#pendingCount -= 1;
    }
    if (order.stored) return order.stored;
    throw nameTaken(row.name);
  }

  /** Throws `conflict` (`name_taken`) or as `requireRoom` does. */
  requireFree(name: string): void {
    if (this.#options.directory.findByName(name)) throw nameTaken(name);
    this.requireRoom();
  }

  /** Throws `exhausted` when there are as many connections as there may be. */
  requireRoom(): void {
    const { directory, connectionsMax } = this.#options;
    if (directory.openCount + this.#pendingCount < connectionsMax) return;
    const message = 'the registry has as many connections as it may';
    throw new Fault('exhausted', message, { retryAfter: 60 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }

  async #store(orders: readonly Order[]): Promise<void> {
    const { sql, onStored } = this.#options;
    const stored = await insertConnections(
      sql,
      orders.map(({ row }) => row),
    );
    const revisions = new Map(stored.map(({ id, revision }) => [id, revision]));
    for (const order of orders) {
      const revision = revisions.get(order.row.id);
      if (revision !== undefined) order.stored = { ...order.row, revision };
    }
    onStored(orders.flatMap((order) => order.stored ?? []));
  }
}

/** The refusal of a name that a connection has which is not disconnected. */
export function nameTaken(name: string): Fault {
  return new Fault('conflict', `another connection has the name ${name}`, {
    reason: 'name_taken',
    detail: { name },
  });
}
