import { rounded } from '../traffic/meter.ts';
import type { Candidate } from './candidate.ts';

/** What was measured of the connections that share a capability. */
export interface PoolMeasure {
  /** All of them; those whose health is no error; those of them that are no outliers. */
  readonly providers: number;
  readonly working: number;
  readonly ejected: number;
  readonly capacity: number;
  readonly activeRequests: number;
  /** Active requests beyond what their connections take at once. */
  readonly queued: number;
  /** How much of the capacity is in use, now or on average of the last minute, whichever is more. */
  readonly utilisation: number;
  readonly requestsPerMinute: number;
  readonly errorRate: number;
  /** Milliseconds: the slowest connection's, of the last one to two minutes. */
  readonly p95Latency: number;
  /** The same of all its requests ever. */
  readonly usualP95Latency: number;
  /** Since the newest was registered. */
  readonly ageMs: number;
}

export interface Recommendation {
  readonly action: 'scale-up' | 'scale-down' | 'investigate';
  readonly reason: string;
  /** How many to add, or to remove; 0 where the number is not what matters. */
  readonly suggestedConnections: number;
  readonly capability: string;
  /** Further ones that the same connections share. */
  readonly capabilities: readonly string[];
  readonly evidence: Omit<PoolMeasure, 'ageMs'>;
}

const utilisationHigh = 0.8;
const utilisationWanted = 0.6;
const utilisationLow = 0.1;
const errorRateHigh = 0.2;
const judgedRequestsMin = 20;
const slowdownHigh = 3;
const quietMs = 300_000;

export function measurePool(providers: readonly Candidate[], nowMs: number): PoolMeasure {
  const working = providers.filter(({ connection }) => connection.status !== 'error');
  let [capacity, active, queued, requests, failures, latencyMs] = [0, 0, 0, 0, 0, 0];
  let [p95, usualP95] = [0, 0];
  for (const one of providers) {
    const minute = one.meter.lastMinute(nowMs);
    active += one.active;
    queued += Math.max(0, one.active - one.capacity);
    requests += minute.requests;
    failures += minute.failures;
    latencyMs += minute.latencyMs;
    const own = one.meter.recentP95(nowMs);
    if (own > p95) [p95, usualP95] = [own, one.meter.total.quantile(0.95)];
  }
  for (const one of working) capacity += one.capacity;
  // Little's law: requests in the system are their rate times the time that each takes.
  const averageActive = latencyMs / 60_000;
  const busy = Math.max(active, averageActive);
  return {
    providers: providers.length,
    working: working.length,
    ejected: working.filter(({ ejectedUntilMs }) => ejectedUntilMs > nowMs).length,
    capacity,
    activeRequests: active,
    queued,
    utilisation: capacity === 0 ? 0 : Math.round((busy / capacity) * 1000) / 1000,
    requestsPerMinute: requests,
    errorRate: requests === 0 ? 0 : failures / requests,
    p95Latency: rounded(p95),
    usualP95Latency: rounded(usualP95),
    ageMs: nowMs - Math.max(...providers.map(({ connection }) => connection.createdAtMs)),
  };
}

/** What should be done about these connections, undefined when all is well. */
export function recommend(
  capabilities: readonly string[],
  measure: PoolMeasure,
  observedMs: number,
): Recommendation | undefined {
  const advice = troubleOf(measure) ?? shortageOf(measure) ?? surplusOf(measure, observedMs);
  if (!advice) return undefined;
  const [capability = '', ...others] = capabilities;
  const { ageMs: _ageMs, ...evidence } = measure;
  return { ...advice, capability, capabilities: others, evidence };
}

type Advice = Pick<Recommendation, 'action' | 'reason' | 'suggestedConnections'>;

/** More connections of the same kind would not help. */
function troubleOf(measure: PoolMeasure): Advice | undefined {
  const { providers, working, requestsPerMinute, errorRate, utilisation } = measure;
  if (working === 0) return investigate(`none of ${providers} works while requests come`);
  if (requestsPerMinute < judgedRequestsMin) return undefined;
  if (errorRate > errorRateHigh) {
    return investigate(`${percent(errorRate)} of the last minute's requests failed`);
  }
  const { p95Latency, usualP95Latency } = measure;
  const isSlow = usualP95Latency > 0 && p95Latency >= usualP95Latency * slowdownHigh;
  if (!isSlow || utilisation >= utilisationWanted) return undefined;
  return investigate(
    `95 % of requests took up to ${p95Latency} ms, usually ${usualP95Latency} ms, at ${percent(utilisation)} of the capacity`,
  );
}

function shortageOf(measure: PoolMeasure): Advice | undefined {
  const { working, utilisation, queued, capacity } = measure;
  if (utilisation <= utilisationHigh && queued === 0) return undefined;
  const wanted = Math.ceil((working * utilisation) / utilisationWanted);
  const reason =
    queued > 0
      ? `${queued} requests wait: one of ${working} connections has more than it takes at once`
      : `${percent(utilisation)} of a capacity of ${capacity} requests is in use`;
  return { action: 'scale-up', reason, suggestedConnections: Math.max(1, wanted - working) };
}

/** Nobody is told to go while it is not known how much there is to do. */
function surplusOf(measure: PoolMeasure, observedMs: number): Advice | undefined {
  const { working, utilisation, capacity, ageMs } = measure;
  if (working < 3 || utilisation >= utilisationLow) return undefined;
  if (Math.min(observedMs, ageMs) < quietMs) return undefined;
  const wanted = Math.max(2, Math.ceil((working * utilisation) / utilisationWanted));
  const reason = `${percent(utilisation)} of a capacity of ${capacity} requests is in use`;
  return { action: 'scale-down', reason, suggestedConnections: working - wanted };
}

function investigate(reason: string): Advice {
  return { action: 'investigate', reason, suggestedConnections: 0 };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
