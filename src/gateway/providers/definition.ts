import { createHash } from 'node:crypto';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { findPreset } from '../catalogue/presets.ts';
import type { DialectName } from '../dialects/dialect.ts';
import {
  completeModel,
  type DefinedModel,
  type DiscoveredModel,
  type ListedModel,
} from './listed-model.ts';
import type { Provider, ProviderKey, ProviderLimits, Timeouts } from './provider.ts';
import { badSetting, type ProviderSettings } from './settings.ts';

/** A provider as one source describes it, complete but for what catalogue and discovery add. */
export interface ProviderDefinition {
  readonly name: string;
  readonly origin: 'environment' | 'file' | 'api';
  readonly dialect: DialectName;
  readonly baseUrl: string;
  readonly keys: readonly ProviderKey[];
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: the provider is asked which it has. */
  readonly models: readonly DefinedModel[] | undefined;
  /** Names that are offered until it has answered. */
  readonly suggested: readonly string[];
  readonly weight: number;
  readonly priority: number;
  readonly requestsPerMinute: number | undefined;
  readonly timeouts: Timeouts;
  readonly limits: ProviderLimits;
}

/** What stands beside the settings. */
export interface DefinitionFrame {
  readonly name: string;
  readonly origin: ProviderDefinition['origin'];
  /** Every key, wherever the settings had them. */
  readonly keys: readonly string[];
  readonly suggested?: readonly string[];
}

const defaultTimeouts: Timeouts = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 600_000 };
/** A runtime may have to load the model first. */
const runtimeTimeouts: Timeouts = { ...defaultTimeouts, firstTokenMs: 180_000, idleMs: 120_000 };

/** The definition that settings amount to; throws `invalid` for an address with a query. */
export function defineProvider(
  settings: ProviderSettings,
  { name, origin, keys, suggested = [] }: DefinitionFrame,
): ProviderDefinition {
  const { dialect, models, weight = 1, priority = 0, rateLimit, timeouts, headers } = settings;
  const baseUrl = readBaseUrl(settings.baseUrl);
  const preset = findPreset(name, baseUrl);
  const defaults = preset?.isFree ? runtimeTimeouts : defaultTimeouts;
  return {
    name,
    origin,
    dialect,
    baseUrl,
    keys: keys.map((key) => new SecretKey(key)),
    headers: { ...headers },
    models: models && models.length > 0 ? models : undefined,
    suggested,
    weight,
    priority,
    requestsPerMinute: rateLimit?.requestsPerMinute,
    timeouts: { ...defaults, ...timeouts },
    limits: { ...preset?.limits, ...settings.limits },
  };
}

/** What a definition is completed with. */
export interface Completion {
  readonly catalogue: Catalogue;
  /** What the provider answered; undefined before it has. */
  readonly discovered: readonly DiscoveredModel[] | undefined;
  readonly at: Date;
}

/** The provider that a definition amounts to now. */
export function completeProvider(definition: ProviderDefinition, by: Completion): Provider {
  const { models, suggested, ...rest } = definition;
  const listed: readonly ListedModel[] =
    models ?? by.discovered ?? suggested.map((name) => ({ name }));
  const completed = listed.map((model) => completeModel(model, { definition, ...by }));
  // Of what was not asked for by name, only what answers something here.
  const offered = models ? completed : completed.filter(({ capabilities }) => capabilities.size);
  return { ...rest, models: new Map(offered.map((model) => [model.name, model])) };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw badSetting('baseUrl', 'must be a URL');
  if (url.search !== '' || url.hash !== '') {
    throw badSetting('baseUrl', 'must not have a query or a fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/** A key that shows itself to nobody who merely prints it. */
class SecretKey implements ProviderKey {
  readonly id: string;
  readonly #value: string;

  constructor(value: string) {
    this.id = createHash('sha256').update(value).digest('hex').slice(0, 8);
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }
}
