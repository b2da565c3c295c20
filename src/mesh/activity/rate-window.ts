/** How often something happened lately, and what it measured, second by second. */
export class RateWindow {
  readonly #now: () => number;
  readonly #seconds: number;
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;
  readonly #startedAtMs: number;
  #current: number;

  /** Looks back `seconds` at most; `now` is in milliseconds. */
  constructor(seconds: number, now: () => number = Date.now) {
    this.#now = now;
    this.#seconds = seconds;
    this.#counts = new Float64Array(seconds);
    this.#sums = new Float64Array(seconds);
    this.#startedAtMs = now();
    this.#current = Math.floor(this.#startedAtMs / 1000);
  }

  add(value = 0): void {
    this.#turn();
    const at = this.#current % this.#seconds;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sums[at] = (this.#sums[at] ?? 0) + value;
  }

  /** Over the time looked back on, less when it began later; at least one second. */
  get perSecond(): number {
    this.#turn();
    const seconds = Math.min((this.#now() - this.#startedAtMs) / 1000, this.#seconds);
    return sum(this.#counts) / Math.max(seconds, 1);
  }

  /** 0 when nothing happened. */
  get mean(): number {
    this.#turn();
    const count = sum(this.#counts);
    return count === 0 ? 0 : sum(this.#sums) / count;
  }

  #turn(): void {
    const second = Math.floor(this.#now() / 1000);
    const passed = Math.min(second - this.#current, this.#seconds);
    for (let step = 1; step <= passed; step += 1) {
      const at = (this.#current + step) % this.#seconds;
      this.#counts[at] = 0;
      this.#sums[at] = 0;
    }
    this.#current = Math.max(second, this.#current);
  }
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
