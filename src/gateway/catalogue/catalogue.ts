import type { PricedModel, PriceList } from '../../kit/prices/price-list.ts';
import { freePrices } from '../../kit/prices/prices.ts';
import { bareName } from './model-names.ts';
import { findPreset } from './presets.ts';

/** Whose model is asked about. */
export interface CatalogueQuestion {
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Prices begin, and some change with the time of the day. */
  readonly at: Date;
}

/** What the catalogue knows of a model at a provider: each undefined where nobody knows. */
export type CatalogueEntry = PricedModel;

/** Prices as they are shipped with the package: nothing is asked for over the network. */
export interface Catalogue {
  find(question: CatalogueQuestion): CatalogueEntry;
}

/**
 * Loads the shipped prices: 70 ms and 20 MB once, which a gateway with nothing but local models need
 * not pay.
 */
export async function openCatalogue(): Promise<Catalogue> {
  const prices = await import('../../kit/prices/price-list.ts');
  const list = new prices.PriceList();
  return { find: (question) => findEntry(list, question) };
}

const unknown: CatalogueEntry = { prices: undefined, contextWindow: undefined };

function findEntry(list: PriceList, question: CatalogueQuestion): CatalogueEntry {
  const { provider, baseUrl, model, at } = question;
  const preset = findPreset(provider, baseUrl);
  if (preset?.isFree) return { ...unknown, prices: freePrices };
  const name = nameFor(provider, model);
  const atMs = at.getTime();
  const found = list.find({ provider: preset?.priceId, model: name, atMs });
  return found ?? findEmbedding(list, name, atMs) ?? unknown;
}

/** Makers whose vectors the list finds only under their own name. */
const embeddingMakers = [
  [/(?:^|\/)text-embedding-(?:3|ada)/, 'openai'],
  [/(?:^|\/)embed-(?:v\d|english|multilingual)/, 'cohere'],
] as const;

function findEmbedding(list: PriceList, model: string, atMs: number): PricedModel | undefined {
  const maker = embeddingMakers.find(([pattern]) => pattern.test(model));
  return maker && list.find({ provider: maker[1], model: bareName(model), atMs });
}

/** Fireworks says whole paths where the catalogue has the last part. */
function nameFor(provider: string, model: string): string {
  return provider === 'fireworks' ? model.slice(model.lastIndexOf('/') + 1) : model;
}
