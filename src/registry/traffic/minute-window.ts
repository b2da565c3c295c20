const seconds = 60;
/** Figures of each second. */
const width = 3;

/** What a minute holds. */
export interface Minute {
  readonly requests: number;
  readonly failures: number;
  /** The sum of all latencies. */
  readonly latencyMs: number;
}

/** Requests of the last minute, second by second; adding and reading cost the same however many. */
export class MinuteWindow implements Minute {
  /** Requests, failures and latency of each second in turn; takes no memory before the first. */
  #sums: Float64Array | undefined;
  #second = 0;
  requests = 0;
  failures = 0;
  latencyMs = 0;

  add(minute: Minute, nowMs: number): void {
    this.turn(nowMs);
    const at = (this.#second % seconds) * width;
    const sums = (this.#sums ??= new Float64Array(seconds * width));
    sums[at] = (sums[at] ?? 0) + minute.requests;
    sums[at + 1] = (sums[at + 1] ?? 0) + minute.failures;
    sums[at + 2] = (sums[at + 2] ?? 0) + minute.latencyMs;
    this.requests += minute.requests;
    this.failures += minute.failures;
    this.latencyMs += minute.latencyMs;
  }

  /** Forgets what is older than a minute; to be called before the figures are read. */
  turn(nowMs: number): this {
    const second = Math.floor(nowMs / 1000);
    if (this.requests > 0) this.#forget(second);
    this.#second = Math.max(second, this.#second);
    // What rounding left behind.
    if (this.requests === 0) this.latencyMs = 0;
    return this;
  }

  #forget(second: number): void {
    const sums = this.#sums;
    if (!sums) return;
    const passed = Math.min(second - this.#second, seconds);
    for (let step = 1; step <= passed; step += 1) {
      const at = ((this.#second + step) % seconds) * width;
      this.requests -= sums[at] ?? 0;
      this.failures -= sums[at + 1] ?? 0;
      this.latencyMs -= sums[at + 2] ?? 0;
      sums.fill(0, at, at + width);
    }
  }
}
