import type { Code } from '../../kit/errors.ts';
import { Metrics, type Count, type Family, type Observation } from '../../kit/metrics.ts';
import type { Usage } from '../conversation/answer.ts';
import type { FailureKind } from '../dialects/failure.ts';
import type { Standings } from '../measure/standing.ts';
import type { Spend } from '../money/purse.ts';
import type { ProviderList } from '../providers/provider.ts';

/** A request that got an answer, or a part of one. */
export interface Answered {
  readonly provider: string;
  /** As the provider list names it, never as the caller wrote it. */
  readonly model: string;
  /** From the request's arrival to the end of its answer. */
  readonly seconds: number;
  readonly firstTokenSeconds?: number | undefined;
  /** Absent when the provider was not asked, or did not get to say. */
  readonly usage?: Usage | undefined;
  /** US dollars. */
  readonly dollars: number;
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
const targetsMax = 5_000;
const latencyBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600,
];
const firstTokenBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** What one provider is counted with for one model. */
interface TargetCounts {
  readonly requests: Count;
  readonly latency: Observation;
  readonly firstToken: Observation;
  readonly cost: Count;
  readonly inputTokens: Count;
  readonly outputTokens: Count;
}

/** The gateway's metrics. Its labels only ever have names of providers and models that exist. */
export class GatewayMetrics {
  readonly #metrics = new Metrics();
  readonly #families = openFamilies(this.#metrics);
  readonly #targets = new Map<string, Map<string, TargetCounts>>();
  #targetCount = 0;

  constructor(sight: MetricsSight) {
    openGauges(this.#metrics, sight);
  }

  /**
   * A request ended with an answer. Of a cached one neither time, tokens nor cost are counted: they
   * would tell nothing of the provider that once made it.
   */
  answered(answered: Answered): void {
    const { provider, model, outcome } = answered;
    const counts = this.#countsOf(provider, model);
    counts.requests.inc();
    this.#families.outcomes.of(provider, outcome).inc();
    if (outcome === 'cached') return;
    counts.latency.observe(answered.seconds);
    if (answered.firstTokenSeconds !== undefined)
      counts.firstToken.observe(answered.firstTokenSeconds);
    if (answered.dollars > 0) counts.cost.inc(answered.dollars);
    if (answered.usage) {
      counts.inputTokens.inc(answered.usage.inputTokens);
      counts.outputTokens.inc(answered.usage.outputTokens);
    }
  }

  /** A request ended with a refusal; who asked no provider is counted under `none`. */
  failed({ kind, seconds, provider = nobody, model = nobody }: Failed): void {
    const counts = this.#countsOf(provider, model);
    counts.requests.inc();
    counts.latency.observe(seconds);
    this.#families.outcomes.of(provider, kind).inc();
  }

  /** One attempt at a provider ended. */
  attempted(provider: string, outcome: FailureKind | 'success' | 'cancelled'): void {
    this.#families.attempts.of(provider, outcome).inc();
  }

  /** A request goes to this provider after another attempt of it failed. */
  retried(provider: string): void {
    this.#families.retries.of(provider).inc();
  }

  /** The cache was asked; `off` is for requests that may not be cached. */
  cacheAsked(result: 'hit' | 'miss' | 'off'): void {
    this.#families.cache.of(result).inc();
  }

  /** The answer to `GET /api/v1/metrics`. */
  answer(): Promise<Response> {
    return this.#metrics.answer();
  }

  #countsOf(provider: string, model: string): TargetCounts {
    const known = this.#targets.get(provider)?.get(model);
    return known ?? this.#openCounts(provider, model);
  }

  #openCounts(provider: string, model: string): TargetCounts {
    const { requests, latency, firstToken, cost, tokens } = this.#families;
    const counts = {
      requests: requests.of(provider, model),
      latency: latency.of(provider),
      firstToken: firstToken.of(provider),
      cost: cost.of(provider),
      inputTokens: tokens.of(provider, model, 'input'),
      outputTokens: tokens.of(provider, model, 'output'),
    };
    this.#keep(provider, model, counts);
    return counts;
  }

  /** Providers come and go while the process runs: what is kept here starts anew once it is many. */
  #keep(provider: string, model: string, counts: TargetCounts): void {
    if (this.#targetCount >= targetsMax) {
      this.#targets.clear();
      this.#targetCount = 0;
    }
    const models = this.#targets.get(provider) ?? new Map<string, TargetCounts>();
    this.#targets.set(provider, models.set(model, counts));
    this.#targetCount += 1;
  }
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
