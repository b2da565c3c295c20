import { setTimeout as sleep } from 'node:timers/promises';

const timeoutMs = 1_000;
const freshMs = 2_000;
/** Of an answer that shall be there within 50 ms whatever the others do. */
const patienceMs = 30;

/** Something that is measured now and then, one measurement at a time, each for a second at most. */
export class Probe<T> {
  readonly #measure: () => Promise<T>;
  readonly #now: () => number;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #measuring: Promise<void> | undefined;
  /** What was measured last; absent when that failed. */
  value: T | undefined;

  constructor(measure: () => Promise<T>, now: () => number = Date.now) {
    this.#measure = measure;
    this.#now = now;
  }

  /** What is known holds for two seconds. */
  isFresh(): boolean {
    return this.#now() - this.#measuredAt < freshMs;
  }

  /** Resolves with the measurement that runs, or a new one. */
  measure(): Promise<void> {
    this.#measuring ??= this.#take();
    return this.#measuring;
  }

  async #take(): Promise<void> {
    const limit = new AbortController();
    const outOfTime = sleep(timeoutMs, undefined, { ref: false, signal: limit.signal });
    this.value = await Promise.race([this.#measure().catch(nothing), outOfTime.catch(nothing)]);
    limit.abort();
    this.#measuredAt = this.#now();
    this.#measuring = undefined;
  }
}

/**
 * Measures what is not fresh, but waits about 30 ms at most: of what takes longer stands what was
 * known before.
 */
export async function glanceAt(probes: readonly Probe<unknown>[]): Promise<void> {
  const stale = probes.filter((probe) => !probe.isFresh());
  if (stale.length === 0) return;
  const limit = new AbortController();
  const patience = sleep(patienceMs, undefined, { ref: false, signal: limit.signal });
  const measured = Promise.all(stale.map((probe) => probe.measure()));
  await Promise.race([measured, patience.catch(() => {})]);
  limit.abort();
}

function nothing(): undefined {
  return undefined;
}
