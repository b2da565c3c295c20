import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import type { Prices } from '../providers/provider.ts';
import { bareName } from './model-names.ts';
import { findPreset } from './presets.ts';
import { freePrices } from './prices.ts';

/** Whose model is asked about. */
export interface CatalogueQuestion {
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Prices begin, and some change with the time of the day. */
  readonly at: Date;
}

/** What the catalogue knows of a model at a provider. */
export interface CatalogueEntry {
  /** Undefined where nobody knows. */
  readonly prices: Prices | undefined;
  readonly contextWindow: number | undefined;
}

/** Prices as they are shipped with the package: nothing is asked for over the network. */
export interface Catalogue {
  find(question: CatalogueQuestion): CatalogueEntry;
}

type PriceData = typeof import('@pydantic/genai-prices');

/**
 * Loads the shipped prices: 70 ms and 20 MB once, which a gateway with nothing but local models need
 * not pay.
 */
export async function openCatalogue(): Promise<Catalogue> {
  const data = await import('@pydantic/genai-prices');
  return { find: (question) => findEntry(data, question) };
}

function findEntry(data: PriceData, question: CatalogueQuestion): CatalogueEntry {
  const { provider, baseUrl, model, at } = question;
  const preset = findPreset(provider, baseUrl);
  if (preset?.isFree) return { prices: freePrices, contextWindow: undefined };
  const name = nameFor(provider, model);
  const options = { timestamp: at, ...(preset?.priceId ? { providerId: preset.priceId } : {}) };
  const found = data.calcPrice({}, name, options) ?? findEmbedding(data, name, at);
  if (!found) return { prices: undefined, contextWindow: undefined };
  return { prices: toPrices(found.model_price), contextWindow: windowOf(found.model) };
}

/** Makers whose vectors the package finds only under their own name. */
const embeddingMakers = [
  [/(?:^|\/)text-embedding-(?:3|ada)/, 'openai'],
  [/(?:^|\/)embed-(?:v\d|english|multilingual)/, 'cohere'],
] as const;

function findEmbedding(data: PriceData, model: string, timestamp: Date) {
  const maker = embeddingMakers.find(([pattern]) => pattern.test(model));
  if (!maker) return undefined;
  return data.calcPrice({}, bareName(model), { timestamp, providerId: maker[1] });
}

/** Fireworks says whole paths where the catalogue has the last part. */
function nameFor(provider: string, model: string): string {
  return provider === 'fireworks' ? model.slice(model.lastIndexOf('/') + 1) : model;
}

function windowOf({ context_window: window }: ModelInfo): number | undefined {
  return window !== undefined && window > 0 ? window : undefined;
}

/** Undefined when the model is not paid by the token. */
function toPrices(price: ModelPrice): Prices | undefined {
  const input = price['input_mtok'];
  if (input === undefined) return undefined;
  const tiers = tierStarts(price).map((start) => ({
    // The catalogue's tiers hold above their start, ours from it.
    fromInputTokens: start + 1,
    ...pricesAt(price, start + 1),
  }));
  return { ...pricesAt(price, 0), ...(tiers.length > 0 ? { tiers } : {}) };
}

function pricesAt(price: ModelPrice, inputTokens: number): Omit<Prices, 'tiers'> {
  const at = (key: string) => amountAt(price[key], inputTokens);
  const optional = {
    cachedInput: at('cache_read_mtok'),
    cacheWrite: at('cache_write_mtok'),
    longCacheWrite: at('cache_write_1h_mtok'),
    audioInput: at('input_audio_mtok'),
    cachedAudioInput: at('cache_audio_read_mtok'),
    audioOutput: at('output_audio_mtok'),
    imageOutput: at('output_image_mtok'),
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    input: at('input_mtok') ?? 0,
    output: at('output_mtok') ?? 0,
    ...Object.fromEntries(known),
  };
}

type Amount = ModelPrice[string];

function amountAt(amount: Amount, inputTokens: number): number | undefined {
  if (amount === undefined || typeof amount === 'number') return amount;
  const reached = amount.tiers.filter(({ start }) => inputTokens > start);
  const highest = reached.toSorted((a, b) => a.start - b.start).at(-1);
  return highest?.price ?? amount.base;
}

const tokenKeys = [
  'input_mtok',
  'output_mtok',
  'output_image_mtok',
  'input_audio_mtok',
  'cache_audio_read_mtok',
  'output_audio_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
];

function tierStarts(price: ModelPrice): number[] {
  const starts = tokenKeys.flatMap((key) => {
    const amount = price[key];
    return typeof amount === 'object' ? amount.tiers.map(({ start }) => start) : [];
  });
  return [...new Set(starts)].toSorted((a, b) => a - b);
}
