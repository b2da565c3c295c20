import { hasUnheardWriters } from '../kit/bus/unheard-writers.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { modelsContract } from '../models/contract.ts';
import { Cache } from './cache/cache.ts';
import type { Eviction } from './cache/cache-entry.ts';
import type { GatewaySettings } from './config.ts';
import type { Embeddings, EmbeddingRequest } from './conversation/embedding.ts';
import type { ImageRequest, Images } from './conversation/image.ts';
import { dialects } from './dialects/dialects.ts';
import { budgetTopic, cacheTopic } from './events.ts';
import { AnswerSources } from './exchange/answer-sources.ts';
import { Attempts } from './exchange/attempts/attempts.ts';
import { embeddingErrand } from './exchange/errands/embedding.ts';
import { ErrandExchange } from './exchange/errands/errand-exchange.ts';
import { imageErrand } from './exchange/errands/image.ts';
import { Exchange } from './exchange/exchange.ts';
import type { ExchangeParts } from './exchange/parts.ts';
import { SlowReaders } from './exchange/streams/slow-readers.ts';
import { openGuardrails } from './guardrails/open-guardrails.ts';
import { Probes, type Probe } from './measure/probes.ts';
import { Stations } from './measure/stations.ts';
import { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { BudgetChange } from './money/budgets.ts';
import { openMoney, type Money } from './money/money.ts';
import { LocalModels } from './providers/local.ts';
import type { Provider } from './providers/provider.ts';
import { Providers } from './providers/providers.ts';
import { RemoteLimits } from './providers/remote-limits.ts';
import { CandidateRouter } from './routing/router.ts';
import { HeaderBook } from './upstream/request-headers.ts';
import { Upstreams } from './upstream/upstreams.ts';

/** The service's parts, put together; disposing them ends what they do. */
export interface GatewayParts extends AsyncDisposable {
  readonly host: Host<GatewaySettings>;
  readonly providers: Providers;
  readonly local: LocalModels;
  readonly stations: Stations;
  /** How a provider answered when nobody but the gateway asked. */
  readonly probeOf: (provider: Provider) => Probe | undefined;
  readonly remoteLimits: RemoteLimits;
  readonly router: CandidateRouter;
  readonly cache: Cache;
  readonly money: Money;
  readonly metrics: GatewayMetrics;
  readonly exchange: Exchange;
  readonly embeddings: ErrandExchange<EmbeddingRequest, Embeddings>;
  readonly images: ErrandExchange<ImageRequest, Images>;
}

/** Opens everything; rejects when a setting, the database or a key file does not allow it. */
export function openParts(host: Host<GatewaySettings>): Promise<GatewayParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<GatewaySettings>, lifetime: Lifetime) {
  const { config, egress, tracer } = host;
  const guardrails = openGuardrails(config);
  const upstreams = lifetime.own('the connections', new Upstreams(egress.dispatcher));
  const stations = new Stations();
  const providers = lifetime.own('the providers', await openProviders(host, stations));
  const local = lifetime.own(
    'the local models',
    new LocalModels(host, (provider) => providers.setLocal(provider)),
  );
  local.start();
  const sources = new AnswerSources(providers);
  const { cache, money } = await openBooks(host, lifetime, sources);
  const metrics = new GatewayMetrics({ providers, standings: stations });
  const router = new CandidateRouter({ providers, standings: stations, dialects });
  const attempts = new Attempts(stations, { hedgeAfterMs: config.hedgeAfterMs });
  const probes = lifetime.own('the probes', new Probes({ providers, stations, dialects, egress }));
  const remoteLimits = new RemoteLimits();
  const exchangeParts = {
    dialects,
    guardrails,
    cache,
    sources,
    purse: money.purse,
    router,
    stations,
    attempts,
    remoteLimits,
    upstreams,
    headers: new HeaderBook(),
    slowReaders: new SlowReaders(config.unreadMebibytes * 1024 * 1024),
    metrics,
    tracer,
    lookAgain: () => local.lookAgain(),
    deadlineMs: config.deadlineSeconds * 1_000,
  };
  return {
    host,
    providers,
    local,
    stations,
    probeOf: (provider: Provider) =>
      provider.origin === 'local' ? local.probe : probes.of(provider),
    remoteLimits,
    router,
    cache,
    money,
    metrics,
    ...openExchanges(exchangeParts, providers),
  };
}

/** All that is asked of models. */
function openExchanges(parts: ExchangeParts, providers: Providers) {
  // Pictures are slow and dear: nobody is asked for one that somebody else is making.
  const attempts = new Attempts(parts.stations, { hedgeAfterMs: undefined });
  return {
    exchange: new Exchange(parts),
    embeddings: new ErrandExchange(embeddingErrand, parts, providers),
    images: new ErrandExchange(imageErrand, { ...parts, attempts }, providers),
  };
}

/** A provider whose settings changed is given a new chance. */
async function openProviders(host: Host<GatewaySettings>, stations: Stations): Promise<Providers> {
  const providers = await Providers.open({
    host,
    credentials: (dialect, apiKey) => dialects[dialect].credential(apiKey),
    hasUnheardWriters: () => hasUnheardWriters(host.bus, host.database),
  });
  let before = new Set(providers.all());
  providers.onChange(() => {
    const now = providers.all();
    for (const provider of now) if (!before.has(provider)) stations.renew(provider.name);
    before = new Set(now);
  });
  return providers;
}

/** What is remembered: answers, and what they cost. */
async function openBooks(host: Host<GatewaySettings>, lifetime: Lifetime, sources: AnswerSources) {
  const { database, bus, config, dataFolder, log } = host;
  const models = host.client(modelsContract);
  const cache = await Cache.open({
    sql: database,
    topic: bus.topic<Eviction>(cacheTopic),
    config,
    log,
    isCurrent: (answer) => sources.isCurrent(answer),
    embed: async (text) => {
      const { data } = await models.createEmbeddings({ body: { input: text } });
      return Float32Array.from((data[0]?.embedding ?? []) as number[]);
    },
  });
  lifetime.own('the cache', cache);
  const topic = bus.topic<BudgetChange>(budgetTopic);
  const money = await openMoney({
    sql: database,
    topic,
    config,
    dataFolder,
    log,
    hasUnheardWriters: () => hasUnheardWriters(bus, database),
  });
  lifetime.own('the books', money);
  return { cache, money };
}
