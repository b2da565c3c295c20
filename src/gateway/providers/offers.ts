import { openCatalogue, type Catalogue } from '../catalogue/catalogue.ts';
import { completeProvider, type ProviderDefinition } from './definition.ts';
import { endpointOf, type Discovery } from './discovery.ts';
import type { DiscoveredModel } from './listed-model.ts';
import type { Model, Provider } from './provider.ts';

interface Completed {
  readonly definition: ProviderDefinition;
  readonly discovered: readonly DiscoveredModel[] | undefined;
  readonly period: number;
  readonly provider: Provider;
}

/** No price of the catalogue changes within half an hour. */
const pricePeriodMs = 30 * 60_000;

/** What providers offer: their definitions, completed by the catalogue and by what they say. */
export class Offers {
  readonly #discovery: Discovery;
  #catalogue: Catalogue | undefined;
  #discovered: ReadonlyMap<string, readonly DiscoveredModel[]> = new Map();
  #completed: ReadonlyMap<string, Completed> = new Map();

  constructor(discovery: Discovery) {
    this.#discovery = discovery;
  }

  /** Loads what completing these takes; nothing for none. */
  async open(definitions: readonly ProviderDefinition[]): Promise<void> {
    if (definitions.length > 0) this.#catalogue ??= await openCatalogue();
  }

  /** Those of whom it is not known yet what they have. */
  unknown(definitions: readonly ProviderDefinition[]): readonly ProviderDefinition[] {
    return definitions.filter(
      (one) => one.models === undefined && !this.#discovered.has(endpointOf(one)),
    );
  }

  /** Asks those who list no models which they have; what they last said stays where that fails. */
  async discover(definitions: readonly ProviderDefinition[], signal: AbortSignal): Promise<void> {
    const asked = definitions.filter(({ models }) => models === undefined);
    const found = await Promise.all(
      asked.map(async (one) => [endpointOf(one), await this.#discovery.ask(one, signal)] as const),
    );
    const known = new Map(this.#discovered);
    for (const [endpoint, models] of found) if (models) known.set(endpoint, models);
    this.#discovered = known;
  }

  /** In order of their names; what came out the same stays the same object. */
  complete(definitions: readonly ProviderDefinition[]): readonly Provider[] {
    const catalogue = this.#catalogue;
    if (!catalogue) return [];
    const completed = definitions.map((one) => this.#completeOne(one, catalogue));
    this.#completed = new Map(completed.map((one) => [one.definition.name, one]));
    const current = new Set(definitions.map(endpointOf));
    this.#discovered = new Map([...this.#discovered].filter(([key]) => current.has(key)));
    const providers = completed.map(({ provider }) => provider);
    return providers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #completeOne(definition: ProviderDefinition, catalogue: Catalogue): Completed {
    const at = new Date();
    const period = Math.floor(at.getTime() / pricePeriodMs);
    const discovered = this.#discovered.get(endpointOf(definition));
    const before = this.#completed.get(definition.name);
    const isSame = before?.definition === definition;
    if (isSame && before.discovered === discovered && before.period === period) return before;
    const provider = completeProvider(definition, { catalogue, discovered, at });
    const kept = isSame && isSameOffer(before.provider, provider) ? before.provider : provider;
    return { definition, discovered, period, provider: kept };
  }
}

function isSameOffer({ models: a }: Provider, { models: b }: Provider): boolean {
  return JSON.stringify([...a.values()].map(plain)) === JSON.stringify([...b.values()].map(plain));
}

function plain({ capabilities, ...rest }: Model) {
  return { ...rest, capabilities: [...capabilities] };
}
