/** Lets one piece of work run at a time for each key, in the order in which they came. */
export class KeyLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as the work does. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    // Whoever waits behind goes on whatever comes of this.
    const settled = own.catch(() => {});
    this.#last.set(key, settled);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
