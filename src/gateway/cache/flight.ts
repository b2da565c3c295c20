import type { Cancellation } from '../../kit/cancellation.ts';
import type { Lookup } from './answer-cache.ts';

interface Waiter {
  readonly turn: () => Lookup;
  resolve(lookup: Lookup | Promise<Lookup>): void;
  stop(): void;
}

/** Those who ask for the same while one of them finds it out. */
export class Flight {
  readonly #waiters = new Set<Waiter>();
  readonly #onEnd: () => void;

  /** `onEnd` is called when nobody finds it out any more. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /**
   * Waits for the answer, or for one's turn to ask, which `turn` then gives; rejects with the reason
   * when it is cancelled.
   */
  join(cancellation: Cancellation, turn: () => Lookup): Promise<Lookup> {
    if (cancellation.reason) return Promise.reject(cancellation.reason);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        reject(cancellation.reason ?? new Error('cancelled'));
      };
      const waiter: Waiter = { turn, resolve, stop: () => cancellation.offCancel(leave) };
      cancellation.onCancel(leave);
      this.#waiters.add(waiter);
    });
  }

  /** Gives all the same answer, and says how many they were. */
  land(lookup: Lookup): number {
    this.#onEnd();
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) {
      waiter.stop();
      waiter.resolve(lookup);
    }
    return waiters.length;
  }

  /** Gives whoever waits longest the turn to ask. */
  handOver(): void {
    const [waiter] = this.#waiters;
    if (waiter) this.#giveTurn(waiter);
    else this.#onEnd();
  }

  /** Gives all of them the turn to ask. */
  scatter(): void {
    this.#onEnd();
    for (const waiter of this.#waiters) this.#giveTurn(waiter);
  }

  #giveTurn(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    waiter.stop();
    waiter.resolve(waiter.turn());
  }
}
