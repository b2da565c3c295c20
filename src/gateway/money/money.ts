import type { Topic } from '../../kit/bus/bus.ts';
import { openTogether } from '../../kit/lifecycle.ts';
import { BudgetPurse } from './budget-purse.ts';
import { Budgets, type BudgetChange } from './budgets.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';

export interface MoneyOptions extends LedgerOptions {
  /** The topic `budgetTopic`. */
  readonly topic: Topic<BudgetChange>;
  /** Whether others may put budgets now of which the topic does not tell. */
  readonly hasUnheardWriters?: () => boolean;
}

/** All about money, put together. */
export interface Money extends AsyncDisposable {
  readonly purse: BudgetPurse;
  readonly budgets: Budgets;
  readonly ledger: Ledger;
}

/** Rejects when the journal's folder cannot be used or the budgets cannot be read. */
export function openMoney(options: MoneyOptions): Promise<Money> {
  const { sql, log } = options;
  return openTogether(log, async (lifetime) => {
    const ledger = lifetime.own('the ledger', await Ledger.open(options));
    const budgets = lifetime.own('the budgets', await Budgets.open({ ...options, ledger }));
    const purse = lifetime.own('the purse', new BudgetPurse({ sql, budgets, ledger, log }));
    return { purse, budgets, ledger };
  });
}
