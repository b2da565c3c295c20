import type { Balancer } from './balancer.ts';
import type { Candidate } from './candidate.ts';
import { strategyDefault } from './strategy.ts';
import { measurePool, recommend, type Recommendation } from './recommendations.ts';
import { rounded } from '../traffic/meter.ts';

/** What one connection has to do. */
export interface ConnectionLoad {
  readonly id: string;
  readonly name: string;
  /** Active requests over capacity, 0..1. */
  readonly load: number;
  readonly activeRequests: number;
  readonly capacity: number;
  readonly weight: number;
  readonly status: string;
  readonly requestsPerMinute: number;
  /** Milliseconds, of all its requests. */
  readonly averageLatency: number;
  /** Milliseconds, of the last one to two minutes. */
  readonly p95Latency: number;
  /** Of the last minute, 0..1. */
  readonly errorRate: number;
  /** Until when it is kept out as an outlier. */
  readonly ejectedUntil?: string;
}

export interface LoadReport {
  /** What is used where no other is named. */
  readonly strategy: string;
  readonly connections: readonly ConnectionLoad[];
  readonly recommendations: readonly Recommendation[];
}

const recommendationsMax = 50;

/** Who has how much to do, the busiest first, and what follows from it. */
export class LoadReporter {
  readonly #balancer: Balancer;
  readonly #startedAtMs: number;

  constructor(balancer: Balancer) {
    this.#balancer = balancer;
    this.#startedAtMs = balancer.nowMs;
  }

  report(limit: number): LoadReport {
    const candidates = this.#balancer.candidates();
    const { nowMs } = this.#balancer;
    const connections = candidates
      .map((candidate) => ({ candidate, minute: candidate.meter.lastMinute(nowMs).requests }))
      .toSorted((a, b) => b.candidate.load - a.candidate.load || b.minute - a.minute)
      .slice(0, limit)
      .map(({ candidate }) => loadOf(candidate, nowMs));
    return { strategy: strategyDefault, connections, recommendations: this.#recommend(nowMs) };
  }

  /** One for each set of connections, whatever number of capabilities they share. */
  #recommend(nowMs: number): Recommendation[] {
    const groups = new Map<string, { capabilities: string[]; providers: readonly Candidate[] }>();
    for (const [capability, { usable, ejected, failed }] of this.#balancer.pools.entries()) {
      const providers = [...usable, ...ejected, ...failed];
      // Only what was asked for lately, or could be fewer, is worth a look.
      if (!isOfInterest(providers, nowMs)) continue;
      const key = providers.map(({ id }) => id).join();
      const group = groups.get(key);
      if (group) group.capabilities.push(capability);
      else groups.set(key, { capabilities: [capability], providers });
    }
    const found: { readonly recommendation: Recommendation; readonly weight: number }[] = [];
    const observedMs = nowMs - this.#startedAtMs;
    for (const { capabilities, providers } of groups.values()) {
      const measured = measurePool(providers, nowMs);
      const recommendation = recommend(capabilities, measured, observedMs);
      if (recommendation) found.push({ recommendation, weight: measured.utilisation });
    }
    return found
      .toSorted((one, other) => other.weight - one.weight)
      .slice(0, recommendationsMax)
      .map(({ recommendation }) => recommendation);
  }
}

function isOfInterest(providers: readonly Candidate[], nowMs: number): boolean {
  return (
    providers.length > 2 ||
    providers.some(({ active, meter }) => active > 0 || meter.lastMinute(nowMs).requests > 0)
  );
}

function loadOf(candidate: Candidate, nowMs: number): ConnectionLoad {
  const { id, connection, meter, active, capacity, weight, load, ejectedUntilMs } = candidate;
  const { requests, failures } = meter.lastMinute(nowMs);
  return {
    id,
    name: connection.name,
    load: Math.round(load * 1000) / 1000,
    activeRequests: active,
    capacity,
    weight,
    status: connection.status,
    requestsPerMinute: requests,
    averageLatency: rounded(meter.total.averageLatency),
    p95Latency: rounded(meter.recentP95(nowMs)),
    errorRate: requests === 0 ? 0 : failures / requests,
    ...(ejectedUntilMs > nowMs ? { ejectedUntil: new Date(ejectedUntilMs).toISOString() } : {}),
  };
}
