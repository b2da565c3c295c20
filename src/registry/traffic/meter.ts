import { RecentLatencies } from './latencies.ts';
import { MinuteWindow, type Minute } from './minute-window.ts';
import { Tally, type EndedRequest } from './tally.ts';
import type { TrafficFigures } from './traffic.ts';

/** How much a newer request counts against all before it. */
const newerShare = 0.2;
/** A latency counts half as much after this long without a newer one, so that all are tried again. */
const latencyHalfLifeMs = 30_000;
/** What a server may offer and we count one by one. */
const capabilitiesMax = 2_000;
const capabilityLengthMax = 256;

/** Everything measured of one connection. */
export class Meter {
  readonly connectionId: string;
  readonly total: Tally;
  readonly capabilities = new Map<string, Tally>();
  #ownActive = 0;
  #othersActive = 0;
  #onChange = () => {};
  readonly #window = new MinuteWindow();
  readonly #recent = new RecentLatencies();
  #latencyMs: number | undefined;
  #measuredAtMs = 0;

  constructor(connectionId: string) {
    this.connectionId = connectionId;
    this.total = new Tally(connectionId, '', () => this.#onChange());
  }

  /** Has itself called after each change but those that time alone brings; for one at a time. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
  }

  get active(): number {
    return this.#ownActive + this.#othersActive;
  }

  /** Running here. */
  get ownActive(): number {
    return this.#ownActive;
  }

  set ownActive(count: number) {
    this.#ownActive = count;
    this.#onChange();
  }

  /** Running at other replicas, as they said last. */
  get othersActive(): number {
    return this.#othersActive;
  }

  set othersActive(count: number) {
    this.#othersActive = count;
    this.#onChange();
  }

  /** The tally of a capability; undefined when it cannot be counted by its name. */
  tallyOf(capability: string): Tally | undefined {
    const known = this.capabilities.get(capability);
    if (known || !isCountable(capability) || this.capabilities.size >= capabilitiesMax) {
      return known;
    }
    const tally = new Tally(this.connectionId, capability);
    this.capabilities.set(capability, tally);
    return tally;
  }

  /** A request that ended here. */
  note({ latencyMs, outcome, bucket }: EndedRequest, nowMs: number): void {
    const failures = outcome === 'error' ? 1 : 0;
    this.#window.add({ requests: 1, failures, latencyMs }, nowMs);
    this.#recent.add(bucket, 1, nowMs);
    // A quick refusal makes no server a quick one, and what was cut off would have taken longer.
    const known = this.#latencyMs ?? 0;
    const measured = outcome === 'success' ? latencyMs : Math.max(known, latencyMs);
    this.#measure(measured, newerShare, nowMs);
    this.#onChange();
  }

  /** Requests that ended at other replicas. */
  noteOthers(minute: Minute, buckets: ReadonlyMap<number, number>, nowMs: number): void {
    if (minute.requests <= 0) return;
    this.#window.add(minute, nowMs);
    for (const [bucket, count] of buckets) this.#recent.add(bucket, count, nowMs);
    const share = 1 - (1 - newerShare) ** minute.requests;
    this.#measure(minute.latencyMs / minute.requests, share, nowMs);
    this.#onChange();
  }

  /** What the last requests took, undefined before the first; old figures fade. */
  latencyMs(nowMs: number): number | undefined {
    if (this.#latencyMs === undefined) return undefined;
    return this.#latencyMs * 0.5 ** ((nowMs - this.#measuredAtMs) / latencyHalfLifeMs);
  }

  lastMinute(nowMs: number): Minute {
    return this.#window.turn(nowMs);
  }

  /** Of the last one to two minutes. */
  recentP95(nowMs: number): number {
    return this.#recent.quantile(0.95, nowMs);
  }

  figures(nowMs: number): TrafficFigures {
    const { total } = this;
    return {
      activeRequests: this.active,
      requestsPerMinute: this.#window.turn(nowMs).requests,
      totalRequests: total.requests,
      failedRequests: total.failures,
      inconclusiveRequests: total.inconclusive,
      averageLatency: rounded(total.averageLatency),
      p95Latency: rounded(total.quantile(0.95)),
    };
  }

  #measure(latencyMs: number, share: number, nowMs: number): void {
    const known = this.#latencyMs ?? latencyMs;
    this.#latencyMs = known + (latencyMs - known) * share;
    this.#measuredAtMs = nowMs;
  }
}

/** To the microsecond. */
export function rounded(latencyMs: number): number {
  return Math.round(latencyMs * 1000) / 1000;
}

/** What PostgreSQL can store as a text, and no more of it than a name needs. */
function isCountable(capability: string): boolean {
  if (capability === '' || capability.length > capabilityLengthMax) return false;
  return !capability.includes('\u0000') && !/\p{Surrogate}/u.test(capability);
}
