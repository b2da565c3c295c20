import type { Topic } from '../../kit/bus/bus.ts';
import { readConfig, type Environment } from '../../kit/config.ts';
import { silentLog } from '../../kit/testing.ts';
import type { BudgetChange } from './budgets.ts';
import { openMoney, type Money } from './money.ts';
import { moneySettings } from './money-settings.ts';
import type { Spend } from './purse.ts';
import type { MoneySql } from './spend-store.ts';

export interface MoneyStart {
  readonly sql: MoneySql;
  readonly topic: Topic<BudgetChange>;
  readonly dataFolder: string;
  readonly environment?: Environment;
  readonly hasUnheardWriters?: () => boolean;
}

/** Opens money as a replica of the gateway does. */
export function startMoney({ environment = {}, ...start }: MoneyStart): Promise<Money> {
  const config = readConfig({ own: moneySettings }, environment).own;
  return openMoney({ ...start, config, log: silentLog });
}

/** A spend of a cent and 30 tokens, but for what is given. */
export function spendOf(subject: string, over: Partial<Spend> = {}): Spend {
  return {
    payer: { subject, name: `name of ${subject}` },
    provider: 'openai',
    model: 'gpt',
    usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 4 },
    dollars: 0.01,
    outcome: 'complete',
    ...over,
  };
}
