import { bucketCount, quantileOf, trimmed, type Latencies } from './latencies.ts';
import { isInconclusive, type Outcome } from './traffic.ts';
import type { TrafficDelta, TrafficRow } from './traffic-store.ts';

/** Sums that the table does not have yet. */
class Addition {
  requests = 0;
  failures = 0;
  inconclusive = 0;
  latencyMs = 0;
  readonly latencies: Uint32Array | undefined;

  constructor(hasLatencies: boolean) {
    if (hasLatencies) this.latencies = new Uint32Array(bucketCount);
  }

  join(other: Addition): void {
    this.requests += other.requests;
    this.failures += other.failures;
    this.inconclusive += other.inconclusive;
    this.latencyMs += other.latencyMs;
    for (const [at, count] of other.latencies?.entries() ?? []) {
      if (this.latencies && count > 0) this.latencies[at] = (this.latencies[at] ?? 0) + count;
    }
  }
}

/** A request that has ended. */
export interface EndedRequest {
  readonly latencyMs: number;
  readonly outcome: Outcome;
  readonly bucket: number;
}

/**
 * The sums of a connection or of one of its capabilities: what the table has, what is on its way
 * there, and what is not yet.
 */
export class Tally {
  readonly connectionId: string;
  readonly capability: string;
  readonly #onChange: (() => void) | undefined;
  #stored: TrafficRow | undefined;
  #leaving: Addition | undefined;
  #pending: Addition | undefined;

  /** `onChange` is called after each change of the sums. */
  constructor(connectionId: string, capability: string, onChange?: () => void) {
    this.connectionId = connectionId;
    this.capability = capability;
    this.#onChange = onChange;
  }

  get stored(): TrafficRow | undefined {
    return this.#stored;
  }

  get requests(): number {
    return sum(this.#stored?.requests, this.#leaving?.requests, this.#pending?.requests);
  }

  get failures(): number {
    return sum(this.#stored?.failures, this.#leaving?.failures, this.#pending?.failures);
  }

  get inconclusive(): number {
    return sum(
      this.#stored?.inconclusive,
      this.#leaving?.inconclusive,
      this.#pending?.inconclusive,
    );
  }

  get latencyMs(): number {
    return sum(this.#stored?.latencyMs, this.#leaving?.latencyMs, this.#pending?.latencyMs);
  }

  /** 0 without requests. */
  get averageLatency(): number {
    const { requests } = this;
    return requests === 0 ? 0 : this.latencyMs / requests;
  }

  quantile(share: number): number {
    return quantileOf(this.#latencies, share);
  }

  countIn(bucket: number): number {
    let count = 0;
    for (const latencies of this.#latencies) count += latencies[bucket] ?? 0;
    return count;
  }

  /** True when this is the first since the last `take`. */
  add({ latencyMs, outcome, bucket }: EndedRequest): boolean {
    const isFirst = this.#pending === undefined;
    this.#pending ??= new Addition(this.capability === '');
    this.#pending.requests += 1;
    this.#pending.latencyMs += latencyMs;
    if (outcome === 'error') this.#pending.failures += 1;
    if (isInconclusive(outcome)) this.#pending.inconclusive += 1;
    const { latencies } = this.#pending;
    if (latencies) latencies[bucket] = (latencies[bucket] ?? 0) + 1;
    this.#onChange?.();
    return isFirst;
  }

  /** What is to be written; it counts as on its way until `settle` or `restore`. */
  take(): TrafficDelta {
    const taken = this.#pending ?? new Addition(false);
    this.#leaving = taken;
    this.#pending = undefined;
    const { requests, failures, inconclusive, latencyMs } = taken;
    const { connectionId, capability } = this;
    const latencies = trimmed(taken.latencies ?? []);
    return { connectionId, capability, requests, failures, inconclusive, latencyMs, latencies };
  }

  /** What was taken is in this row. */
  settle(row: TrafficRow): void {
    this.#leaving = undefined;
    this.takeOver(row);
    this.#onChange?.();
  }

  /** What was taken could not be written. */
  restore(): void {
    if (this.#leaving && this.#pending) this.#pending.join(this.#leaving);
    this.#pending ??= this.#leaving;
    this.#leaving = undefined;
  }

  /** False when a row as new is known already. */
  takeOver(row: TrafficRow): boolean {
    if (this.#stored && this.#stored.revision >= row.revision) return false;
    this.#stored = row;
    this.#onChange?.();
    return true;
  }

  get #latencies(): Latencies[] {
    return [this.#stored, this.#leaving, this.#pending].map((one) => one?.latencies ?? []);
  }
}

function sum(stored = 0, leaving = 0, pending = 0): number {
  return stored + leaving + pending;
}
