import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';

/** A call of a model as far as its price depends on it. */
export interface PricedCall {
  readonly provider: string | undefined;
  readonly model: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Microseconds since the epoch: prices change. */
  readonly atUs: number;
}

const modelsMax = 2_000;

/** Prices calls by the public price list that came with the program; it asks nobody. */
export class PriceList {
  readonly #providers = new LRUCache<string, { readonly provider: Provider | undefined }>({
    max: modelsMax,
  });

  /** US dollars; undefined where the list does not know the model at this provider. */
  priceOf(call: PricedCall): number | undefined {
    try {
      return this.#priceOf(call);
    } catch {
      // The list has prices of this model for none of these units.
      return undefined;
    }
  }

  #priceOf(call: PricedCall): number | undefined {
    const provider = this.#providerOf(call);
    if (provider === undefined) return undefined;
    const inputTokens = Math.max(0, call.inputTokens);
    const usage = {
      input_tokens: inputTokens,
      cache_read_tokens: Math.min(Math.max(0, call.cachedInputTokens), inputTokens),
      output_tokens: Math.max(0, call.outputTokens),
    };
    const timestamp = new Date(call.atUs / 1_000);
    return calcPrice(usage, call.model, { provider, timestamp })?.total_price;
  }

  /** The provider with this model as its only one: matching the names of all costs far more. */
  #providerOf({ provider: providerId, model, atUs }: PricedCall): Provider | undefined {
    const key = `${providerId ?? ''}\0${model}`;
    const known = this.#providers.get(key);
    if (known !== undefined) return known.provider;
    const found = find({ providerId, model, timestamp: new Date(atUs / 1_000) });
    this.#providers.set(key, { provider: found });
    return found;
  }
}

interface Wanted {
  readonly providerId: string | undefined;
  readonly model: string;
  readonly timestamp: Date;
}

function find({ providerId, model, timestamp }: Wanted): Provider | undefined {
  const options = providerId === undefined ? { modelId: model } : { providerId };
  const provider = findProvider(options);
  if (provider === undefined) return undefined;
  const match = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { provider, timestamp });
  return match === null ? undefined : { ...match.provider, models: [match.model] };
}
