import type { PricedUsage, Prices } from './prices.ts';

/**
 * What an answer costs, in US dollars: the number nearest to the exact decimal figure, for prices
 * of up to six decimals and up to 15 million tokens at 600 dollars a million.
 */
export function priceOf(usage: PricedUsage, prices: Prices): number {
  return dollarsOf(picodollarsOf(usage, prices));
}

/** US dollars, from what is exact. */
export function dollarsOf(money: number): number {
  return money / picodollars;
}

/**
 * The same in millionths of millionths of a dollar, which are whole: sums of them are exact, where
 * sums of dollars gather what binary fractions cannot hold.
 */
export function picodollarsOf(usage: PricedUsage, prices: Prices): number {
  const { inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (usage.images !== undefined && isPaidByImage(usage, prices)) {
    return usage.images * wholePrice((prices.perImage ?? 0) * tokensOfPrice);
  }
  const tier = tierOf(prices, inputTokens);
  const { input, cachedInput, cacheWrite, longCacheWrite } = tier;
  const longTokens = Math.min(usage.longCacheWriteTokens ?? 0, cacheWriteTokens);
  const shortTokens = cacheWriteTokens - longTokens;
  // Some providers count what they cache outside the prompt: never below nothing.
  const plainTokens = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const shortWrite = cacheWrite ?? input;
  return (
    plainTokens * wholePrice(input) +
    picodollarsOfOutput(usage, tier) +
    cachedInputTokens * wholePrice(cachedInput ?? input) +
    shortTokens * wholePrice(shortWrite) +
    longTokens * wholePrice(longCacheWrite ?? shortWrite) +
    (usage.audioInputTokens ? surchargeOfHearing(usage, plainTokens, tier) : 0)
  );
}

/**
 * What sound costs beyond text, in picodollars: read from the cache, and not. Where the provider does
 * not say how much of its cache was sound, none was; more sound than there is of the prompt is none.
 */
function surchargeOfHearing(usage: PricedUsage, plainTokens: number, prices: TierPrices): number {
  const { audioInputTokens = 0, cachedInputTokens = 0, cachedAudioInputTokens = 0 } = usage;
  const { input, cachedInput = input, audioInput = input } = prices;
  const { cachedAudioInput = prices.cachedInput ?? audioInput } = prices;
  const cached = Math.min(audioInputTokens, cachedInputTokens, cachedAudioInputTokens);
  const fresh = Math.min(audioInputTokens - cached, plainTokens);
  return (
    fresh * (wholePrice(audioInput) - wholePrice(input)) +
    cached * (wholePrice(cachedAudioInput) - wholePrice(cachedInput))
  );
}

/** By the picture is what was not counted in tokens, or whose tokens have no price. */
function isPaidByImage({ isEstimated }: PricedUsage, { perImage, input, output }: Prices): boolean {
  if (perImage === undefined) return false;
  return isEstimated === true || (input === 0 && output === 0);
}

function picodollarsOfOutput(usage: PricedUsage, prices: TierPrices): number {
  const { outputTokens, imageTokens, audioOutputTokens } = usage;
  const { output, imageOutput, audioOutput } = prices;
  const images = imageOutput === undefined ? 0 : (imageTokens ?? 0);
  const audio = audioOutput === undefined ? 0 : (audioOutputTokens ?? 0);
  const plainTokens = Math.max(0, outputTokens - images - audio);
  return (
    plainTokens * wholePrice(output) +
    images * wholePrice(imageOutput ?? 0) +
    audio * wholePrice(audioOutput ?? 0)
  );
}

type TierPrices = Omit<Prices, 'tiers'>;

/** Prices are for so many tokens. */
const tokensOfPrice = 1e6;
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
function tierOf(prices: Prices, inputTokens: number): TierPrices {
  if (!prices.tiers) return prices;
  let found: TierPrices = prices;
  for (const tier of prices.tiers) if (inputTokens >= tier.fromInputTokens) found = tier;
  return found;
}
