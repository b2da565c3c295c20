import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import { UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import {
  deleteBudget,
  listBudgets,
  listBudgetSubjects,
  readBudget,
  writeBudget,
  type Budget,
  type BudgetLimit,
} from './budget-store.ts';
import type { Ledger } from './ledger.ts';
import type { MoneySql } from './spend-store.ts';

/** Whose budget was put or deleted. */
export interface BudgetChange {
  readonly subject: string;
}

export interface BudgetsOptions {
  readonly sql: MoneySql;
  /** The topic `budgetTopic`. */
  readonly topic: Topic<BudgetChange>;
  readonly ledger: Ledger;
  readonly log: Log;
  /** Whether others may put budgets now of which the topic does not tell. */
  readonly hasUnheardWriters?: () => boolean;
}

const reloadMs = 60_000;

/** The budgets, and who may have one. */
export class Budgets implements AsyncDisposable {
  readonly #options: BudgetsOptions;
  /** Those who may have a budget, with when that was heard last; the database knows for sure. */
  readonly #subjects = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #watch: UnheardWritersWatch;
  #subscription: Subscription | undefined;
  #news = 0;

  private constructor(options: BudgetsOptions) {
    this.#options = options;
    const reload = () => void this.#reload();
    this.#timer = setInterval(reload, reloadMs).unref();
    this.#watch = new UnheardWritersWatch(options.hasUnheardWriters ?? (() => false), reload);
  }

  /** Rejects when the budgets cannot be read: nobody may spend past one because it is not known. */
  static async open(options: BudgetsOptions): Promise<Budgets> {
    const budgets = new Budgets(options);
    try {
      budgets.#subscription = await options.topic.subscribe(
        ({ data: { subject } }) => budgets.#hear(subject),
        { onGap: () => void budgets.#reload() },
      );
      await budgets.#load();
    } catch (error) {
      await budgets[Symbol.asyncDispose]();
      throw error;
    }
    return budgets;
  }

  /** When it was heard last that the subject has a budget; undefined for those who have none. */
  heardOf(subject: string): number | undefined {
    return this.#subjects.get(subject);
  }

  /** The subject has none, unless something was heard of it meanwhile. */
  forget(subject: string, heardAt: number): void {
    if (this.#subjects.get(subject) === heardAt) this.#subjects.delete(subject);
  }

  /** Puts a budget in place of the one that the subject had; says whether it had none. */
  async put(
    subject: string,
    limits: readonly BudgetLimit[],
  ): Promise<{ budget: Budget; isNew: boolean }> {
    requireSound(limits);
    const isNew = await writeBudget(this.#options.sql, subject, limits);
    await this.#announce(subject);
    return { budget: await this.read(subject), isNew };
  }

  /** Throws `not_found` when there is none. */
  async delete(subject: string): Promise<void> {
    const wasThere = await deleteBudget(this.#options.sql, subject);
    if (!wasThere) throw noBudget(subject);
    await this.#announce(subject);
  }

  /** With what was used of it up to now; throws `not_found` when there is none. */
  async read(subject: string): Promise<Budget> {
    await this.#options.ledger.flush();
    const budget = await readBudget(this.#options.sql, subject);
    if (!budget) throw noBudget(subject);
    return budget;
  }

  async list(page: { readonly limit: number; readonly offset: number }) {
    await this.#options.ledger.flush();
    return listBudgets(this.#options.sql, page);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#watch[Symbol.dispose]();
    await this.#subscription?.close();
  }

  async #announce(subject: string): Promise<void> {
    this.#hear(subject);
    await this.#options.topic.publish({ subject });
  }

  /** Also after a deletion: news may come in another order than the changes, so the next request asks. */
  #hear(subject: string): void {
    this.#subjects.set(subject, (this.#news += 1));
  }

  async #load(): Promise<void> {
    for (const subject of await listBudgetSubjects(this.#options.sql)) this.#hear(subject);
  }

  async #reload(): Promise<void> {
    await this.#load().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'the budgets could not be read again');
    });
  }
}

function noBudget(subject: string): Fault {
  return new Fault('not_found', `${subject} has no budget`, {
    reason: 'budget_not_found',
    detail: { param: 'subject' },
  });
}

function requireSound(limits: readonly BudgetLimit[]): void {
  const places = new Set(limits.map(({ unit, period }) => `${unit} ${period}`));
  if (places.size < limits.length) throw unsound('the budget names a unit twice for one period');
  const isBroken = limits.some(
    ({ unit, amount }) => unit !== 'dollars' && !Number.isSafeInteger(amount),
  );
  if (isBroken) throw unsound('requests and tokens are whole numbers');
}

function unsound(message: string): Fault {
  return new Fault('invalid', message, { reason: 'invalid_budget', detail: { param: 'limits' } });
}
