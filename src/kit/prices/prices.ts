/** What a million tokens cost, in US dollars. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  /** Read from the provider's cache; the input price when absent. */
  readonly cachedInput?: number | undefined;
  /** Written to the provider's cache; the input price when absent. */
  readonly cacheWrite?: number | undefined;
  /** Written to it for an hour; `cacheWrite` when absent. */
  readonly longCacheWrite?: number | undefined;
  /** Heard; the input price when absent. */
  readonly audioInput?: number | undefined;
  /** Heard, and read from the provider's cache; `cachedInput` when absent. */
  readonly cachedAudioInput?: number | undefined;
  /** Spoken; the output price when absent. */
  readonly audioOutput?: number | undefined;
  /** Written as pictures; the output price when absent. */
  readonly imageOutput?: number | undefined;
  /** One picture, where no tokens are counted or none have a price. */
  readonly perImage?: number | undefined;
  /** Prices of requests whose input has at least so many tokens, in ascending order. */
  readonly tiers?: readonly ({ readonly fromInputTokens: number } & Omit<Prices, 'tiers'>)[];
}

/** What a model costs where nobody asks for money. */
export const freePrices: Prices = { input: 0, output: 0 };

/** What an answer took, as far as its price depends on it. */
export interface PricedUsage {
  /** All of the prompt, what was read from or written to the provider's cache included. */
  readonly inputTokens: number;
  /** All that was written, reasoning included. */
  readonly outputTokens: number;
  /** Of the input, read from the provider's cache. */
  readonly cachedInputTokens?: number | undefined;
  /** Of the input, written to the provider's cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** Of `cacheWriteTokens`, those kept for an hour. */
  readonly longCacheWriteTokens?: number | undefined;
  /** Of the input, sound. */
  readonly audioInputTokens?: number | undefined;
  /** Of `audioInputTokens`, read from the provider's cache. */
  readonly cachedAudioInputTokens?: number | undefined;
  /** Of the output, sound. */
  readonly audioOutputTokens?: number | undefined;
  /** Of the output, pictures. */
  readonly imageTokens?: number | undefined;
  /** Pictures that were made. */
  readonly images?: number | undefined;
  /** Counted from the text, because the provider did not get to say. */
  readonly isEstimated?: boolean | undefined;
}
