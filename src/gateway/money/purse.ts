import type { Usage } from '../conversation/answer.ts';

/** Who pays. */
export interface Payer {
  /** The subject of the token: one user, or one API key's service. */
  readonly subject: string;
  /** Name of it for people, where the token has one. */
  readonly name: string | undefined;
}

/** What a request may take, before it is known. */
export interface Estimate {
  readonly tokens: number;
  /** US dollars at the dearest candidate. */
  readonly dollars: number;
}

/** What an answer took. */
export interface Spend {
  readonly payer: Payer;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** US dollars. */
  readonly dollars: number;
  /** Whether the answer came to its end. */
  readonly outcome: 'complete' | 'aborted' | 'failed' | 'cached';
}

/** Money that is held for a request until it is known what it took. */
export interface Reservation {
  /**
   * Writes down what was spent and frees the rest. What is awaited of it never rejects, and is done
   * once the spend is safe from a crash of this process, with all others of the same turn of the
   * event loop; what budgets share is settled after that.
   */
  settle(spend: Spend): void | Promise<void>;
  /**
   * Writes down what a provider took that did not get to the end, before another goes on: no request
   * of its own, and what is held stays held.
   */
  add(spend: Spend): void;
  /**
   * What the request took so far, in place of what was kept before: counts if this process dies now,
   * and no more once the request is settled, released, or `add` has told of it.
   */
  keep(spend: Spend): void;
  /** Frees all of it: nothing was spent. */
  release(): void;
}

/** Holds what requests may spend, and writes down what they did. */
export interface Purse {
  /**
   * Throws `exhausted` (`budget_exceeded`) with `retryAfter` when a budget of the payer has not
   * enough left. At once for payers without a budget.
   */
  reserve(payer: Payer, estimate: Estimate): Reservation | Promise<Reservation>;
}
