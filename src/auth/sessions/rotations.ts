import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { rotateRefreshTokens, type RotatedSession, type Rotation } from './session-store.ts';
import type { Sql } from '../tables.ts';

interface Order extends Rotation {
  outcome: RotatedSession | undefined;
}

/** Rotates refresh tokens, those that come together in one statement. */
export class Rotations implements AsyncDisposable {
  readonly #batch: Batch<Order>;

  constructor(sql: Sql) {
    this.#batch = createBatch<Order>({
      flush: (orders) => rotateAll(sql, orders),
      maxItems: 200,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }

  /**
   * Consumes a refresh token for its successor. Undefined, and nothing happened, when it was
   * consumed before or its session or user has ended; `exhausted` when too many wait.
   */
  async rotate(rotation: Rotation): Promise<RotatedSession | undefined> {
    const order: Order = { ...rotation, outcome: undefined };
    await this.#batch.add(order);
    return order.outcome;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}

async function rotateAll(sql: Sql, orders: readonly Order[]): Promise<void> {
  const rotated = await rotateRefreshTokens(sql, orders, new Date());
  for (const order of orders) order.outcome = rotated.get(order.successorHash.toString('hex'));
}
