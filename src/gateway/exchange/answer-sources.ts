import { hash } from 'node:crypto';
import type { CachedAnswer } from '../cache/answer-cache.ts';
import type { Provider, ProviderList } from '../providers/provider.ts';

/** Tells whether a cached answer could still come from where it came from. */
export class AnswerSources {
  readonly #providers: ProviderList;
  /** Of a provider as it is configured; a change puts another in its place. */
  readonly #known = new WeakMap<Provider, string>();

  constructor(providers: ProviderList) {
    this.#providers = providers;
  }

  /** Stands for a provider's address, its dialect and its headers; other keys are the same source. */
  of(provider: Provider): string {
    let source = this.#known.get(provider);
    if (source === undefined) {
      const { dialect, baseUrl, headers } = provider;
      const sorted = Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1));
      source = hash('sha256', JSON.stringify([dialect, baseUrl, sorted]), 'hex').slice(0, 32);
      this.#known.set(provider, source);
    }
    return source;
  }

  /** Whether its provider is there, the same, and still has the model. */
  isCurrent({ provider: name, model, source }: CachedAnswer): boolean {
    const provider = this.#providers.find(name);
    return provider !== undefined && provider.models.has(model) && this.of(provider) === source;
  }
}
