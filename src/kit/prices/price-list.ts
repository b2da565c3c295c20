import {
  calcPrice,
  findProvider,
  type ModelInfo,
  type ModelPrice,
  type Provider,
} from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import type { Prices } from './prices.ts';

/** Whose model is asked about, and when. */
export interface PriceQuestion {
  /** Its id in the list, or as OpenTelemetry names it; undefined finds one that has the model. */
  readonly provider: string | undefined;
  readonly model: string;
  /** Milliseconds since the epoch: prices begin, and some change with the time of the day. */
  readonly atMs: number;
}

/** A model as the list knows it. */
export interface PricedModel {
  /** Undefined when it is not paid by the token. */
  readonly prices: Prices | undefined;
  /** Tokens of prompt and answer together, where it is known. */
  readonly contextWindow: number | undefined;
}

const modelsMax = 2_000;

/**
 * The public list of prices that came with the program (genai-prices): nothing is asked for over the network.
 * Matching a name against the names of all models takes long, so what was found is remembered.
 */
export class PriceList {
  readonly #entries = new LRUCache<string, { readonly entry: Entry | undefined }>({
    max: modelsMax,
  });

  /** Undefined where the list does not know the model at this provider. */
  find(question: PriceQuestion): PricedModel | undefined {
    const key = `${question.provider ?? ''}\0${question.model}`;
    let known = this.#entries.get(key);
    if (known === undefined) {
      known = { entry: findEntry(question) };
      this.#entries.set(key, known);
    }
    return known.entry?.at(question.atMs);
  }
}

function findEntry({ provider: providerId, model, atMs }: PriceQuestion): Entry | undefined {
  const provider = findProvider(providerId === undefined ? { modelId: model } : { providerId });
  if (provider === undefined) return undefined;
  const match = calcPrice({}, model, { provider, timestamp: new Date(atMs) });
  if (match === null) return undefined;
  return new Entry({ ...match.provider, models: [match.model] }, model);
}

/** One model of the list; its prices are worked out once, or once a minute where they change. */
class Entry {
  /** With this model as its only one. */
  readonly #provider: Provider;
  readonly #name: string;
  #minute = Number.NaN;
  #model: PricedModel | undefined;

  constructor(provider: Provider, name: string) {
    this.#provider = provider;
    this.#name = name;
  }

  at(atMs: number): PricedModel | undefined {
    const minute = this.#areConstant ? 0 : Math.floor(atMs / 60_000);
    if (minute !== this.#minute) {
      this.#model = this.#read(atMs);
      this.#minute = minute;
    }
    return this.#model;
  }

  get #areConstant(): boolean {
    return this.#provider.models.every(({ prices }) => !Array.isArray(prices));
  }

  #read(atMs: number): PricedModel | undefined {
    const options = { provider: this.#provider, timestamp: new Date(atMs) };
    const found = calcPrice({}, this.#name, options);
    return found
      ? { prices: toPrices(found.model_price), contextWindow: windowOf(found.model) }
      : undefined;
  }
}

function windowOf({ context_window: window }: ModelInfo): number | undefined {
  return window !== undefined && window > 0 ? window : undefined;
}

function toPrices(price: ModelPrice): Prices | undefined {
  const input = price['input_mtok'];
  if (input === undefined) return undefined;
  const tiers = tierStarts(price).map((start) => ({
    // The list's tiers hold above their start, ours from it.
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
