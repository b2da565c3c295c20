import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { insertSessions, type Opening } from './session-store.ts';
import type { Sql } from '../tables.ts';

interface Order extends Opening {
  eventNumber: number | undefined;
}

/** Opens sessions, those that begin together in one statement. */
export class Openings implements AsyncDisposable {
  readonly #batch: Batch<Order>;

  constructor(sql: Sql) {
    this.#batch = createBatch<Order>({
      flush: async (orders) => {
        const numbers = await insertSessions(sql, orders);
        for (const [at, order] of orders.entries()) order.eventNumber = numbers[at];
      },
      maxItems: 200,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }

  /**
   * Opens a session; answers the number of its event. Undefined, and nothing happened, when the user
   * is gone or disabled by now, or no longer has the password that the login was checked with;
   * `exhausted` when too many wait.
   */
  async open(opening: Opening): Promise<number | undefined> {
    const order: Order = { ...opening, eventNumber: undefined };
    await this.#batch.add(order);
    return order.eventNumber;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}
