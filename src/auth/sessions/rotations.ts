import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { AttemptRate } from '../limits/attempt-limits.ts';
import { rotateRefreshTokens, type Rotation, type SessionState } from './session-store.ts';
import type { Sql } from '../tables.ts';

interface Order extends Rotation {
  outcome: SessionState | undefined;
}

/** Rotates refresh tokens, those that come together in one statement. */
export class Rotations implements AsyncDisposable {
  readonly #batch: Batch<Order>;

  constructor(sql: Sql, rate: AttemptRate) {
    this.#batch = createBatch<Order>({
      flush: (orders) => rotateAll(sql, orders, rate),
      maxItems: 200,
      maxDelayMs: 1,
      maxPending: 5_000,
    });
  }

  /**
   * Replaces a refresh token by its successor; answers the session as it was before. Undefined, and
   * nothing happened, when the token is not the good one of its session, the session or user has
   * ended, or the session has refreshed too often; `exhausted` when too many wait.
   */
  async rotate(rotation: Rotation): Promise<SessionState | undefined> {
    const order: Order = { ...rotation, outcome: undefined };
    await this.#batch.add(order);
    return order.outcome;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }
}

async function rotateAll(sql: Sql, orders: readonly Order[], rate: AttemptRate): Promise<void> {
  // Replicas that lock the same sessions do so in one order.
  const sorted = orders.toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  const rotated = await rotateRefreshTokens(sql, sorted, rate);
  for (const order of orders) order.outcome = rotated.get(order.successorHash.toString('hex'));
}
