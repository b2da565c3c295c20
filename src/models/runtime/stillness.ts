import type { Activity } from './activity.ts';

/** What was seen of the child since the look before. */
export interface Sight {
  /** Undefined where the system does not tell. */
  readonly activity: Activity | undefined;
  /** Whether any message came, so its event loop turns. */
  readonly hasSpoken: boolean;
  /** Whether a message came that a task or the start has brought forth. */
  readonly hasDelivered: boolean;
  /** Whether it has tasks. */
  readonly isWorking: boolean;
}

/** How long a child may show no sign of work when nobody says otherwise. */
export const stallMsDefault = 30_000;

/** A child that works may keep quiet so many times longer than one that does nothing. */
export const busyFactor = 10;

/**
 * Less CPU time is no work: to answer the looks takes a few milliseconds, and the rounding of the system's
 * counters up to two ticks.
 */
const workMs = 50;

/**
 * Tells a child that hangs from one that is busy. Who has tasks takes CPU time, reads from a disk or delivers;
 * who has none answers. A long prompt, a chat template or a model of many gigabytes may keep a healthy one
 * from answering, but never from taking CPU time or reading.
 */
export class Stillness {
  readonly #limitMs: number;
  /** At the last sign of work. */
  #before: Activity | undefined;
  #stillMs = 0;
  #silentMs = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Why the child counts as hung; undefined while it does not. `elapsedMs`: since the look before. */
  look(sight: Sight, elapsedMs: number): string | undefined {
    this.#silentMs = sight.hasSpoken ? 0 : this.#silentMs + elapsedMs;
    if (this.#hasWorked(sight)) {
      this.#stillMs = 0;
      this.#before = sight.activity;
    } else {
      this.#stillMs += elapsedMs;
    }
    if (this.#stillMs >= this.#limitMs) return `no sign of work for ${this.#limitMs} ms`;
    const silentMax = busyFactor * this.#limitMs;
    return this.#silentMs >= silentMax ? `no answer for ${silentMax} ms` : undefined;
  }

  #hasWorked({ activity, hasSpoken, hasDelivered, isWorking }: Sight): boolean {
    if (hasDelivered || (hasSpoken && !isWorking)) return true;
    // Without counters only its silence tells.
    if (!activity || !this.#before) return true;
    const hasRead = activity.pagesRead !== this.#before.pagesRead;
    return hasRead || activity.cpuMs - this.#before.cpuMs >= workMs;
  }
}
