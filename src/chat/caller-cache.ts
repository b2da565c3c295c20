import { LRUCache } from 'lru-cache';
import type { Caller } from './caller.ts';

export interface CallerCacheOptions<T> {
  readonly keptMs: number;
  /** Of all that is kept together, in the unit of `sizeOf`. */
  readonly sizeMax: number;
  /** At least 1. */
  readonly sizeOf: (value: T) => number;
}

/** What callers asked for of late: kept for moments, and asked once for all who ask at a time. */
export class CallerCache<T extends object> {
  readonly #kept: LRUCache<string, T>;
  readonly #asking = new Map<string, Promise<T>>();

  constructor({ keptMs, sizeMax, sizeOf }: CallerCacheOptions<T>) {
    this.#kept = new LRUCache({ ttl: keptMs, maxSize: sizeMax, sizeCalculation: sizeOf });
  }

  /** What is kept for the caller's token, else what `ask` resolves with. Failures are not kept. */
  async get({ identity }: Pick<Caller, 'identity'>, ask: () => Promise<T>): Promise<T> {
    const key = `${identity.subject} ${identity.tokenId}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const asking = this.#asking.get(key) ?? this.#ask(key, ask);
    return asking;
  }

  #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const asking = ask()
      .then((value) => {
        this.#kept.set(key, value);
        return value;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}
