import type { Usage } from '../conversation/answer.ts';
import type { Prices } from '../providers/provider.ts';

/** What an embedding or a local answer costs where nobody asks for money. */
export const freePrices: Prices = { input: 0, output: 0 };

/**
 * What an answer costs, in US dollars: the number nearest to the exact decimal figure, for prices
 * of up to six decimals and up to 15 million tokens at 600 dollars a million.
 */
export function priceOf(usage: Usage, prices: Prices): number {
  return picodollarsOf(usage, prices) / picodollars;
}

/**
 * The same in millionths of millionths of a dollar, which are whole: sums of them are exact, where
 * sums of dollars gather what binary fractions cannot hold.
 */
export function picodollarsOf(usage: Usage, prices: Prices): number {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const { input, output, cachedInput, cacheWrite, longCacheWrite } = tierOf(prices, inputTokens);
  const longTokens = Math.min(usage.longCacheWriteTokens ?? 0, cacheWriteTokens);
  const shortTokens = cacheWriteTokens - longTokens;
  // Some providers count what they cache outside the prompt: never below nothing.
  const plainTokens = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const shortWrite = cacheWrite ?? input;
  return (
    plainTokens * wholePrice(input) +
    outputTokens * wholePrice(output) +
    cachedInputTokens * wholePrice(cachedInput ?? input) +
    shortTokens * wholePrice(shortWrite) +
    longTokens * wholePrice(longCacheWrite ?? shortWrite)
  );
}

const picodollars = 1e12;
const decimals = 1e6;
const dust = 1e-6;

/** The price of a token in picodollars: whole unless it has more than six decimals. */
function wholePrice(price: number): number {
  const scaled = price * decimals;
  const whole = Math.round(scaled);
  return Math.abs(scaled - whole) < dust ? whole : scaled;
}

/** The prices of a request with so much input: the last tier that it reaches, else the base. */
function tierOf(prices: Prices, inputTokens: number): Omit<Prices, 'tiers'> {
  if (!prices.tiers) return prices;
  let found: Omit<Prices, 'tiers'> = prices;
  for (const tier of prices.tiers) if (inputTokens >= tier.fromInputTokens) found = tier;
  return found;
}
