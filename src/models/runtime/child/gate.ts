/**
 * Lets a newcomer into a running batch. The binding holds the context's lock for as long as any
 * sequence asks for tokens, and clearing another sequence needs that lock: without a pause a
 * request would wait for all the others to end.
 */
export class Gate {
  readonly #inside = new Set<Promise<void>>();

  /** Runs `work` while everyone who asks `opened` waits. */
  async pass(work: () => Promise<void>): Promise<void> {
    const passing = work();
    this.#inside.add(passing);
    try {
      await passing;
    } finally {
      this.#inside.delete(passing);
    }
  }

  get isClosed(): boolean {
    return this.#inside.size > 0;
  }

  /** Resolves when nobody passes any more. */
  async opened(): Promise<void> {
    while (this.isClosed) await Promise.allSettled(this.#inside);
  }
}
