import { Fault } from '../errors.ts';

/** How many sockets each of many may have open at once. */
export class Places {
  readonly #max: number;
  readonly #countByKey = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `exhausted` when all places of the key are taken. */
  require(key: string): void {
    if ((this.#countByKey.get(key) ?? 0) < this.#max) return;
    throw new Fault('exhausted', `at most ${this.#max} sockets may be open at once`, {
      reason: 'too_many_sockets',
      detail: { limit: this.#max },
    });
  }

  /** Takes a place, and answers how to give it back; only the first time does that do anything. */
  occupy(key: string): () => void {
    this.#countByKey.set(key, (this.#countByKey.get(key) ?? 0) + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#release(key);
    };
  }

  #release(key: string): void {
    const count = (this.#countByKey.get(key) ?? 0) - 1;
    if (count > 0) this.#countByKey.set(key, count);
    else this.#countByKey.delete(key);
  }
}
