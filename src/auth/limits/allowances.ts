import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Sql } from '../tables.ts';
import { takeAllowances, type AllowanceAsk, type AllowanceGrant } from './allowance-store.ts';

interface Order {
  /** Read when the statement is made, so that it may still grow while it waits. */
  readonly ask: () => readonly AllowanceAsk[];
  grants: readonly AllowanceGrant[];
}

/** The buckets that all replicas share; asks of different requests travel in one statement. */
export class Allowances implements AsyncDisposable {
  readonly #batch: Batch<Order>;

  constructor(sql: Sql) {
    this.#batch = createBatch<Order>({
      flush: async (orders) => {
        const grants = await takeAllowances(
          sql,
          orders.map(({ ask }) => ask()),
        );
        for (const [at, order] of orders.entries()) order.grants = grants[at] ?? [];
      },
      maxItems: 500,
      maxDelayMs: 1,
      maxPending: 50_000,
    });
  }

  /**
   * The grants of the asks, one for each, after those of every earlier call. All asks get something
   * or none does.
   */
  async take(ask: () => readonly AllowanceAsk[]): Promise<readonly AllowanceGrant[]> {
    const order: Order = { ask, grants: [] };
    await this.#batch.add(order);
    return order.grants;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}
