/** A number of places that are given out in the order of asking. */
export class Places {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Does the work once there is a place; rejects with the signal's reason while it waits. */
  async with<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      this.#waiting.push(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
