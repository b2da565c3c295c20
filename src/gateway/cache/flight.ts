import { Fault } from '../../kit/errors.ts';
import type { Lookup } from './answer-cache.ts';

interface Waiter {
  readonly turn: () => Lookup;
  resolve(lookup: Lookup | Promise<Lookup>): void;
  stop(): void;
}

/** Those who ask for the same while one of them finds it out. */
export class Flight {
  readonly #waiters = new Set<Waiter>();

  /**
   * Waits for the answer, or for one's turn to ask, which `turn` then gives; rejects with `cancelled`
   * when the signal aborts.
   */
  join(signal: AbortSignal, turn: () => Lookup): Promise<Lookup> {
    if (signal.aborted) return Promise.reject(Fault.from(signal.reason));
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        reject(Fault.from(signal.reason));
      };
      const waiter: Waiter = {
        turn,
        resolve,
        stop: () => signal.removeEventListener('abort', leave),
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Gives all the same answer, and says how many they were. */
  land(lookup: Lookup): number {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) {
      waiter.stop();
      waiter.resolve(lookup);
    }
    return waiters.length;
  }

  /** Gives whoever waits longest the turn to ask; false when nobody waits. */
  handOver(): boolean {
    const [waiter] = this.#waiters;
    if (!waiter) return false;
    this.#waiters.delete(waiter);
    waiter.stop();
    waiter.resolve(waiter.turn());
    return true;
  }
}
