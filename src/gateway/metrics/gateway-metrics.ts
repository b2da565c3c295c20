import type { Code } from '../../kit/errors.ts';
import { Metrics, type Count, type Family, type Observation } from '../../kit/metrics.ts';
import type { Usage } from '../conversation/answer.ts';
import type { FailureKind } from '../dialects/failure.ts';
import type { Standings } from '../measure/standing.ts';
import type { Spend } from '../money/purse.ts';
import type { ProviderList } from '../providers/provider.ts';

/** What a provider took. */
export interface Spent {
  readonly provider: string;
  /** As the provider list names it, never as the caller wrote it. */
  readonly model: string;
  readonly usage: Usage;
  /** US dollars. */
  readonly dollars: number;
}

/** A request that got an answer, or a part of one. */
export interface Answered extends Omit<Spent, 'usage'> {
  /** From the request's arrival to the end of its answer. */
  readonly seconds: number;
  readonly firstTokenSeconds?: number | undefined;
  /** Absent when the provider was not asked, or did not get to say. */
  readonly usage?: Usage | undefined;
  readonly outcome: Spend['outcome'];
}

/** A request that got no answer. */
export interface Failed {
  readonly kind: Code;
  readonly seconds: number;
  /** The last one tried; absent when none was. */
  readonly provider?: string | undefined;
  /** Only a model that exists; absent when none was chosen. */
  readonly model?: string | undefined;
}

/** What the gateway looks at when somebody reads its metrics. */
export interface MetricsSight {
  readonly providers: ProviderList;
  readonly standings: Standings;
}

const nobody = 'none';
const modelsMax = 5_000;
const latencyBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600,
];
const firstTokenBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** What is counted of one provider; kept, because a look into a family costs more than a count. */
interface ProviderCounts {
  readonly latency: Observation;
  readonly firstToken: Observation;
  readonly cost: Count;
  readonly retries: Count;
  readonly outcomes: Map<string, Count>;
  readonly attempts: Map<string, Count>;
  readonly models: Map<string, ModelCounts>;
}

interface ModelCounts {
  readonly requests: Count;
  readonly inputTokens: Count;
  readonly outputTokens: Count;
}

/** The gateway's metrics. Its labels only ever have names of providers and models that exist. */
export class GatewayMetrics {
  readonly #metrics = new Metrics();
  readonly #families = openFamilies(this.#metrics);
  readonly #providers = new Map<string, ProviderCounts>();
  #modelCount = 0;

  constructor(sight: MetricsSight) {
    openGauges(this.#metrics, sight);
  }

  /**
   * A request ended with an answer. Of a cached one neither time, tokens nor cost are counted: they
   * would tell nothing of the provider that once made it.
   */
  answered(answered: Answered): void {
    const { provider, model, outcome, firstTokenSeconds, usage } = answered;
    const counts = this.#providerOf(provider);
    const ofModel = this.#modelOf(counts, provider, model);
    ofModel.requests.inc();
    this.#outcomeOf(counts, provider, outcome).inc();
    if (outcome === 'cached') return;
    counts.latency.observe(answered.seconds);
    if (firstTokenSeconds !== undefined) counts.firstToken.observe(firstTokenSeconds);
    if (usage) this.spent({ provider, model, usage, dollars: answered.dollars });
  }

  /** A provider took something for a request that is counted elsewhere. */
  spent({ provider, model, usage, dollars }: Spent): void {
    const counts = this.#providerOf(provider);
    const { inputTokens, outputTokens } = this.#modelOf(counts, provider, model);
    if (dollars > 0) counts.cost.inc(dollars);
    inputTokens.inc(usage.inputTokens);
    outputTokens.inc(usage.outputTokens);
  }

  /** A request ended with a refusal; who asked no provider is counted under `none`. */
  failed({ kind, seconds, provider = nobody, model = nobody }: Failed): void {
    const counts = this.#providerOf(provider);
    this.#modelOf(counts, provider, model).requests.inc();
    this.#outcomeOf(counts, provider, kind).inc();
    counts.latency.observe(seconds);
  }

  /** One attempt at a provider ended. */
  attempted(provider: string, outcome: FailureKind | 'success' | 'cancelled'): void {
    const { attempts } = this.#providerOf(provider);
    keptIn(attempts, outcome, () => this.#families.attempts.of(provider, outcome)).inc();
  }

  /** A request goes to this provider after another attempt of it failed. */
  retried(provider: string): void {
    this.#providerOf(provider).retries.inc();
  }

  /** The cache was asked; `off` is for requests that may not be cached. */
  cacheAsked(result: 'hit' | 'miss' | 'off'): void {
    this.#families.cache.of(result).inc();
  }

  /** The answer to `GET /api/v1/metrics`. */
  answer(): Promise<Response> {
    return this.#metrics.answer();
  }

  #providerOf(provider: string): ProviderCounts {
    const { latency, firstToken, cost, retries } = this.#families;
    return keptIn(this.#providers, provider, () => ({
      latency: latency.of(provider),
      firstToken: firstToken.of(provider),
      cost: cost.of(provider),
      retries: retries.of(provider),
      outcomes: new Map(),
      attempts: new Map(),
      models: new Map(),
    }));
  }

  #outcomeOf({ outcomes }: ProviderCounts, provider: string, outcome: string): Count {
    return keptIn(outcomes, outcome, () => this.#families.outcomes.of(provider, outcome));
  }

  #modelOf({ models }: ProviderCounts, provider: string, model: string): ModelCounts {
    return keptIn(models, model, () => {
      this.#makeRoom();
      const { requests, tokens } = this.#families;
      return {
        requests: requests.of(provider, model),
        inputTokens: tokens.of(provider, model, 'input'),
        outputTokens: tokens.of(provider, model, 'output'),
      };
    });
  }

  /** Providers come and go while the process runs: what is kept starts anew once it is many models. */
  #makeRoom(): void {
    this.#modelCount += 1;
    if (this.#modelCount < modelsMax) return;
    this.#providers.clear();
    this.#modelCount = 0;
  }
}

function keptIn<T>(kept: Map<string, T>, name: string, open: () => T): T {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const opened = open();
  kept.set(name, opened);
  return opened;
}

function openFamilies(metrics: Metrics) {
  return {
    requests: metrics.counter({
      name: 'gateway_requests_total',
      help: 'Requests that ended, by the provider that answered or was tried last; none: no provider was asked.',
      labels: ['provider', 'model'],
    }),
    latency: metrics.histogram({
      name: 'gateway_latency_seconds',
      help: 'From the arrival of a request to the end of its answer, answers from the cache left out.',
      labels: ['provider'],
      buckets: latencyBuckets,
    }),
    cost: metrics.counter({
      name: 'gateway_cost_dollars',
      help: 'US dollars that answers cost.',
      labels: ['provider'],
    }),
    firstToken: metrics.histogram({
      name: 'gateway_first_token_seconds',
      help: 'From the arrival of a request to the first piece of its answer.',
      labels: ['provider'],
      buckets: firstTokenBuckets,
    }),
    tokens: metrics.counter({
      name: 'gateway_tokens_total',
      help: 'Tokens of prompts (input) and of answers (output), as providers counted them.',
      labels: ['provider', 'model', 'direction'],
    }),
    outcomes: metrics.counter({
      name: 'gateway_outcomes_total',
      help: 'Requests that ended, by how: complete, aborted, failed, cached, or the kind of refusal.',
      labels: ['provider', 'outcome'],
    }),
    cache: metrics.counter({
      name: 'gateway_cache_requests_total',
      help: 'What the cache said to requests: hit, miss, or off for those that may not be cached.',
      labels: ['result'],
    }),
    attempts: metrics.counter({
      name: 'gateway_attempts_total',
      help: 'Attempts at providers, by how they ended.',
      labels: ['provider', 'outcome'],
    }),
    retries: metrics.counter({
      name: 'gateway_retries_total',
      help: 'Further attempts of a request after one failed, by the provider that they went to.',
      labels: ['provider'],
    }),
  } satisfies Readonly<Record<string, Family<Count> | Family<Observation>>>;
}

function openGauges(metrics: Metrics, { providers, standings }: MetricsSight): void {
  const inFlight = { name: 'gateway_in_flight', help: 'Requests on their way to providers now.' };
  metrics.gauge(inFlight, (set) => {
    let sum = 0;
    for (const target of targetsOf(providers)) sum += standings.of(target).inFlight;
    set(sum);
  });
  const circuit = {
    name: 'gateway_circuit_open',
    help: '1 while a model at a provider is not asked, because it failed too often.',
    labels: ['provider', 'model'],
  };
  metrics.gauge(circuit, (set) => {
    for (const target of targetsOf(providers)) {
      const isOpen = standings.of(target).circuit === 'open';
      set(isOpen ? 1 : 0, target.provider.name, target.model.name);
    }
  });
}

function* targetsOf(providers: ProviderList) {
  for (const provider of providers.all()) {
    for (const model of provider.models.values()) yield { provider, model };
  }
}
