import { setTimeout as sleep } from 'node:timers/promises';

const timeoutMs = 1_000;
const freshMs = 2_000;
const unknownMs = 200;
/** Of an answer that shall be there within 50 ms whatever the others do. */
const patienceMs = 30;
const outOfTimeMark = Symbol('out of time');

/** Something that is measured now and then, one measurement at a time, each for a second at most. */
export class Probe<T> {
  readonly #measure: () => Promise<T>;
  /** Milliseconds, whatever becomes of the clock. */
  readonly #now: () => number;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #measuring: Promise<void> | undefined;
  #ranOut = false;
  /** What was measured last; absent when that failed. */
  value: T | undefined;

  constructor(measure: () => Promise<T>, now = (): number => performance.now()) {
    this.#measure = measure;
    this.#now = now;
  }

  /** What is known holds for two seconds; that something is away not as long, for it may just start. */
  isFresh(): boolean {
    return this.#now() - this.#measuredAt < (this.isUnknown() ? unknownMs : freshMs);
  }

  /** Nothing good is known, nor that it answers slowly: only a measurement tells, and soon. */
  isUnknown(): boolean {
    return this.value === undefined && !this.#ranOut;
  }

  /** Resolves with the measurement that runs, or a new one. */
  measure(): Promise<void> {
    this.#measuring ??= this.#take();
    return this.#measuring;
  }

  async #take(): Promise<void> {
    const limit = new AbortController();
    const outOfTime = sleep(timeoutMs, outOfTimeMark, { ref: false, signal: limit.signal });
    const measured = await Promise.race([this.#measure().catch(nothing), outOfTime.catch(nothing)]);
    limit.abort();
    this.#ranOut = measured === outOfTimeMark;
    this.value = measured === outOfTimeMark ? undefined : measured;
    this.#measuredAt = this.#now();
    this.#measuring = undefined;
  }
}

/**
 * Measures what is not fresh, but waits about 30 ms at most: of what takes longer stands what was
 * known before. What is unknown is waited for, a second at most: who is away refuses at once, and
 * who hangs is known to from then on.
 */
export async function glanceAt(probes: readonly Probe<unknown>[]): Promise<void> {
  const stale = probes.filter((probe) => !probe.isFresh());
  if (stale.length === 0) return;
  const unknown = stale.filter((probe) => probe.isUnknown());
  const limit = new AbortController();
  const patience = sleep(patienceMs, undefined, { ref: false, signal: limit.signal });
  const measured = Promise.all(stale.map((probe) => probe.measure()));
  await Promise.race([measured, patience.catch(() => {})]);
  limit.abort();
  await Promise.all(unknown.map((probe) => probe.measure()));
}

function nothing(): undefined {
  return undefined;
}
