import type { Catalogue, CatalogueEntry } from '../catalogue/catalogue.ts';
import { capabilitiesOf, defaultCapabilities, isForSound } from '../catalogue/capabilities.ts';
import { defaultContextWindow, roomOf } from '../catalogue/context-windows.ts';
import { freePrices, type Prices } from '../../kit/prices/prices.ts';
import { qualityOf } from '../catalogue/quality.ts';
import type { DialectName } from '../dialects/dialect.ts';
import type { Model } from './provider.ts';
import type { ModelSettings } from './settings.ts';

/** A model that a provider said it has. */
export interface DiscoveredModel {
  readonly name: string;
  /** Unix seconds; 0 when unknown. */
  readonly createdAt: number;
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  readonly sizeBytes?: number | undefined;
}

/** A model that an operator named. */
export interface DefinedModel extends ModelSettings {
  /** The name by which the tables know it, where that is another. */
  readonly knownAs?: string | undefined;
}

/** A model that somebody named, the operator, the provider or our own table. */
export type ListedModel = DefinedModel & Pick<Partial<DiscoveredModel>, 'createdAt' | 'sizeBytes'>;

/** What a model is completed with. */
export interface ModelCompletion {
  readonly definition: {
    readonly name: string;
    readonly baseUrl: string;
    readonly dialect: DialectName;
  };
  readonly catalogue: Catalogue;
  readonly at: Date;
}

/** The model with all that it left out: from the catalogue and our tables by its name, else defaults. */
export function completeModel(listed: ListedModel, by: ModelCompletion): Model {
  const knownAs = listed.knownAs ?? listed.name;
  const entry = entryOf(knownAs, by);
  const { createdAt = 0, sizeBytes, quality = qualityOf(knownAs) } = listed;
  return {
    name: listed.name,
    ...abilityOf(listed, knownAs),
    ...priceOf(listed, entry.prices),
    quality,
    ...spaceOf(listed, { knownAs, entry }),
    createdAt,
    ...present({ sizeBytes }),
  };
}

function entryOf(model: string, { definition, catalogue, at }: ModelCompletion): CatalogueEntry {
  const { name: provider, baseUrl, dialect } = definition;
  if (dialect === 'ollama') return { prices: freePrices, contextWindow: undefined };
  return catalogue.find({ provider, baseUrl, model, at });
}

function abilityOf({ capabilities: own }: ModelSettings, knownAs: string) {
  if (own) return { capabilities: new Set(own) };
  const capabilities = capabilitiesOf(knownAs);
  if (capabilities) return { capabilities, ...(isForSound(knownAs) && { isOnlyByName: true }) };
  return { capabilities: defaultCapabilities, areCapabilitiesAssumed: true };
}

function spaceOf(
  own: ModelSettings,
  { knownAs, entry }: { readonly knownAs: string; readonly entry: CatalogueEntry },
) {
  const known = roomOf(knownAs);
  const contextWindow = own.contextWindow ?? entry.contextWindow ?? known?.contextWindow;
  const maxOutput = own.maxOutput ?? known?.maxOutput;
  return { contextWindow: contextWindow ?? defaultContextWindow, ...present({ maxOutput }) };
}

function priceOf(own: ModelSettings, known: Prices | undefined) {
  const prices = ownPrices(own, known) ?? known;
  return prices ? { prices } : { prices: freePrices, isPriceUnknown: true };
}

/**
 * An operator's own price ends what the catalogue says of tiers, its own input price of caches and
 * heard sound too, its own output price of pictures and spoken sound, and a price for one picture alone what it says of tokens.
 */
function ownPrices(own: ModelSettings, known: Prices | undefined): Prices | undefined {
  const cacheWrite = own.cacheWriteCostPerMToken;
  const given = present({
    input: own.inputCostPerMToken,
    output: own.outputCostPerMToken,
    cachedInput: own.cachedInputCostPerMToken,
    cacheWrite,
    longCacheWrite: cacheWrite,
    perImage: own.costPerImage,
  });
  const names = Object.keys(given);
  if (names.length === 0) return undefined;
  if (names.length === 1 && given.perImage !== undefined) return { ...freePrices, ...given };
  const { tiers: _tiers, imageOutput, audioOutput, ...base } = known ?? freePrices;
  const ofOutput = present({ imageOutput, audioOutput });
  const kept = own.outputCostPerMToken === undefined ? ofOutput : {};
  if (own.inputCostPerMToken === undefined) return { ...base, ...kept, ...given };
  return { input: own.inputCostPerMToken, output: base.output, ...kept, ...given };
}

/** The fields that have a value. */
function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Only the absent ones are gone.
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
