import { describeHealth } from '../measure/health.ts';
import type { Probe } from '../measure/probes.ts';
import type { Standing, Standings } from '../measure/standing.ts';
import type { Model, Provider } from './provider.ts';

/** How much of a provider's own limit is left, where it says so in its answers. */
export interface RemoteLimit {
  readonly remaining: number;
  readonly resetAt: Date;
}

export interface StatusSources {
  readonly standings: Standings;
  /** How it answered when it was last asked for its models. */
  readonly probe?: ((provider: Provider) => Probe | undefined) | undefined;
  /** What the provider last said of its limit; without it ours counts. */
  readonly remoteLimit?: ((provider: Provider) => RemoteLimit | undefined) | undefined;
  /** The local runtime's address, for the one provider that shows it. */
  readonly localUrl?: string | undefined;
}

const minuteMs = 60_000;

/** A provider as the interface lists it, measured from its real traffic and probes. */
export function describeStatus(provider: Provider, sources: StatusSources) {
  const { standings, probe, localUrl } = sources;
  const models = [...provider.models.values()];
  const standing = models.map((model) => standings.of({ provider, model }));
  const requestsPerMinute = sumOf(standing, (one) => one.requestsPerMinute);
  const isLocal = provider.origin === 'local';
  return {
    name: provider.name,
    status: describeHealth(provider, { standings, probe: probe?.(provider) }).status,
    ...(isLocal ? { endpoint: localUrl ?? provider.baseUrl } : {}),
    models: models.map(describeModel),
    requestsPerMinute,
    averageLatency: latencyOf(standing),
    ...(isLocal ? {} : limitOf(provider, requestsPerMinute, sources)),
  };
}

function describeModel(model: Model) {
  const { name, sizeBytes, capabilities, prices, maxOutput, isPriceUnknown } = model;
  return {
    name,
    ...(sizeBytes === undefined ? {} : { size: sizeText(sizeBytes) }),
    capabilities: [...capabilities],
    costPerMToken: blended(prices),
    inputCostPerMToken: prices.input,
    outputCostPerMToken: prices.output,
    ...(prices.perImage === undefined ? {} : { costPerImage: prices.perImage }),
    contextWindow: model.contextWindow,
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(isPriceUnknown ? { isPriceUnknown: true as const } : {}),
  };
}

/** Three parts of prompt to one of answer, as price comparisons mix them. */
function blended({ input, output }: Model['prices']): number {
  return Math.round(((3 * input + output) / 4) * 1e6) / 1e6;
}

/** Of those measured, weighted by their requests of the last minute; 0 before any. */
function latencyOf(standing: readonly Standing[]): number {
  const measured = standing.filter(({ latencyMs }) => latencyMs !== undefined);
  const weight = sumOf(measured, weightOf);
  if (weight === 0) return 0;
  const sum = sumOf(measured, (one) => (one.latencyMs ?? 0) * weightOf(one));
  return Math.round((sum / weight) * 10) / 10;
}

/** Who was not asked of late still counts a little. */
function weightOf({ requestsPerMinute }: Standing): number {
  return requestsPerMinute + 0.01;
}

function limitOf(provider: Provider, used: number, { remoteLimit }: StatusSources) {
  const remote = remoteLimit?.(provider);
  if (remote) return limitAnswer(remote.remaining, remote.resetAt);
  const { requestsPerMinute: limit } = provider;
  if (limit === undefined) return {};
  return limitAnswer(limit - used, new Date(Date.now() + (used > 0 ? minuteMs : 0)));
}

function limitAnswer(remaining: number, reset: Date) {
  const left = Math.max(0, Math.floor(remaining));
  return { rateLimit: { remaining: left, reset: reset.toISOString() } };
}

function sizeText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** step;
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

function sumOf(standing: readonly Standing[], read: (one: Standing) => number): number {
  return standing.reduce((sum, one) => sum + read(one), 0);
}

/** The settings of a provider as they may be shown: nothing that is secret. */
export function describeSettings(provider: Provider, hidden: string) {
  const { requestsPerMinute, keys, headers } = provider;
  return {
    name: provider.name,
    origin: provider.origin,
    dialect: provider.dialect,
    baseUrl: provider.baseUrl,
    hasApiKey: keys.length > 0,
    keyCount: keys.length,
    models: [...provider.models.values()].map(describeModelSettings),
    weight: provider.weight,
    priority: provider.priority,
    ...(requestsPerMinute === undefined ? {} : { rateLimit: { requestsPerMinute } }),
    timeouts: provider.timeouts,
    limits: provider.limits ?? {},
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, hidden])),
  };
}

function describeModelSettings(model: Model) {
  const { cachedInput, cacheWrite, perImage } = model.prices;
  return {
    name: model.name,
    capabilities: [...model.capabilities],
    inputCostPerMToken: model.prices.input,
    outputCostPerMToken: model.prices.output,
    ...(cachedInput === undefined ? {} : { cachedInputCostPerMToken: cachedInput }),
    ...(cacheWrite === undefined ? {} : { cacheWriteCostPerMToken: cacheWrite }),
    ...(perImage === undefined ? {} : { costPerImage: perImage }),
    quality: model.quality,
    contextWindow: model.contextWindow,
    ...(model.maxOutput === undefined ? {} : { maxOutput: model.maxOutput }),
  };
}
