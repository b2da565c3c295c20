import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Sql } from '../tables.ts';
import { beginLogins, type LoginAsk, type LoginStart } from './login-store.ts';

interface Order extends LoginAsk {
  start: LoginStart | undefined;
}

/** Begins logins, those that come together in one statement. */
export class LoginStarts implements AsyncDisposable {
  readonly #batch: Batch<Order>;

  /** An address stays known for so long to whoever logged in from it. */
  constructor(sql: Sql, addressKnownMs: number) {
    this.#batch = createBatch<Order>({
      flush: async (orders) => {
        const starts = await beginLogins(sql, orders, new Date(Date.now() - addressKnownMs));
        for (const [at, order] of orders.entries()) order.start = starts[at];
      },
      maxItems: 100,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }

  /** Counts an attempt and says whose name it is; `exhausted` when too many wait. */
  async begin(ask: LoginAsk): Promise<LoginStart> {
    const order: Order = { ...ask, start: undefined };
    await this.#batch.add(order);
    if (!order.start) throw new Error('a login was begun and not answered');
    return order.start;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}
