import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { extendHolds, reserve, type ExceededLimit } from './budget-store.ts';
import type { Budgets } from './budgets.ts';
import type { Ledger } from './ledger.ts';
import type { Estimate, Payer, Purse, Reservation, Spend } from './purse.ts';
import type { MoneySql } from './spend-store.ts';
import type { KeptPlace } from './unfinished-spends.ts';

export interface BudgetPurseOptions {
  readonly sql: MoneySql;
  readonly budgets: Budgets;
  readonly ledger: Ledger;
  readonly log: Log;
}

/** What a dead process held counts for so long. */
const holdSeconds = 10 * 60;
const extendEveryMs = 60_000;
/** When others hold what is missing, it is free as soon as they are done. */
const crowdedSeconds = 5;

/**
 * Holds what requests may spend in the budgets of their payers. When the database does not answer,
 * payers with a budget are refused with `unavailable`; all others spend on.
 */
export class BudgetPurse implements Purse, AsyncDisposable {
  readonly #options: BudgetPurseOptions;
  readonly #held = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  readonly #name = newId('hold');
  #count = 0;

  constructor(options: BudgetPurseOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#extend(), extendEveryMs).unref();
  }

  /** How many holds are neither settled nor released. */
  get heldCount(): number {
    return this.#held.size;
  }

  reserve(payer: Payer, estimate: Estimate): Reservation | Promise<Reservation> {
    const heardAt = this.#options.budgets.heardOf(payer.subject);
    if (heardAt === undefined) return new Held(this.#options.ledger);
    return this.#hold({ payer, estimate, heardAt });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
  }

  async #hold(ask: {
    readonly payer: Payer;
    readonly estimate: Estimate;
    readonly heardAt: number;
  }): Promise<Reservation> {
    const { sql, budgets, ledger } = this.#options;
    const { subject } = ask.payer;
    const { tokens, dollars } = ask.estimate;
    this.#count += 1;
    const id = `${this.#name}.${this.#count}`;
    const outcome = await reserve(sql, { id, subject, tokens, dollars, seconds: holdSeconds });
    if (outcome.state === 'exceeded') throw exceeded(outcome.limits);
    if (outcome.state === 'no-budget') {
      budgets.forget(subject, ask.heardAt);
      return new Held(ledger);
    }
    this.#held.add(id);
    return new Held(ledger, { id, held: this.#held });
  }

  /** Keeps what is still in use here from expiring. */
  async #extend(): Promise<void> {
    if (this.#held.size === 0) return;
    await extendHolds(this.#options.sql, [...this.#held], holdSeconds).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'reservations could not be extended');
    });
  }
}

/** Settled or released once; what comes after that is ignored. */
class Held implements Reservation {
  readonly #ledger: Ledger;
  readonly #hold: { readonly id: string; readonly held: Set<string> } | undefined;
  #kept: KeptPlace | undefined;
  #isOpen = true;

  constructor(ledger: Ledger, hold?: { readonly id: string; readonly held: Set<string> }) {
    this.#ledger = ledger;
    this.#hold = hold;
  }

  settle(spend: Spend): void | Promise<void> {
    if (!this.#close()) return undefined;
    return this.#ledger.append(spend, this.#hold && { hold: this.#hold.id });
  }

  add(spend: Spend): void {
    this.#takeBack();
    void this.#ledger.append(spend, { isPart: true });
  }

  keep(spend: Spend): void {
    if (!this.#isOpen) return;
    this.#kept = this.#ledger.keep(spend, { hold: this.#hold?.id, kept: this.#kept });
  }

  release(): void {
    if (!this.#close() || !this.#hold) return;
    this.#ledger.free(this.#hold.id);
  }

  #close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#takeBack();
    if (this.#hold) this.#hold.held.delete(this.#hold.id);
    return wasOpen;
  }

  #takeBack(): void {
    if (this.#kept !== undefined) this.#ledger.takeBack(this.#kept);
    this.#kept = undefined;
  }
}

/** Names the limit that stays in the way for longest. */
function exceeded(limits: readonly ExceededLimit[]): Fault {
  const [worst] = limits
    .map((limit) => ({ limit, retryAfter: retryAfterOf(limit) }))
    .toSorted((one, other) => other.retryAfter - one.retryAfter);
  if (!worst) throw new Error('no limit was exceeded');
  const { unit, period, amount, used, held, wanted } = worst.limit;
  const allowed = `the budget of ${amount} ${unit} a ${period}`;
  const state = `${used} used, ${held} held for requests on their way, ${wanted} needed`;
  return new Fault('exhausted', `${allowed} has not enough left: ${state}`, {
    reason: 'budget_exceeded',
    retryAfter: worst.retryAfter,
    detail: { unit, period, amount, used, reserved: held, needed: wanted },
  });
}

function retryAfterOf({ amount, used, wanted, endsInSeconds }: ExceededLimit): number {
  if (used + wanted <= amount) return crowdedSeconds;
  return Math.max(1, Math.ceil(endsInSeconds));
}
