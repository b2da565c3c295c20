/** The places for executions in this process: some taken, some kept for those about to begin. */
export class Places {
  readonly #max: number;
  readonly #takenCount: () => number;
  #keptCount = 0;
  #isClosed = false;

  constructor(max: number, takenCount: () => number) {
    this.#max = max;
    this.#takenCount = takenCount;
  }

  /** Keeps at most so many; how many there were. */
  keep(countMax: number): number {
    const free = this.#isClosed ? 0 : this.#max - this.#takenCount() - this.#keptCount;
    const count = Math.max(0, Math.min(free, countMax));
    this.#keptCount += count;
    return count;
  }

  giveBack(count: number): void {
    this.#keptCount -= count;
  }

  /** Nothing begins any more. */
  close(): void {
    this.#isClosed = true;
  }
}
