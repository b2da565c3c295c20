import { rounded } from './meter.ts';
import { MinuteWindow, type Minute } from './minute-window.ts';

/** What went through all connections together. */
export interface OverallFigures {
  /** Of the last minute. */
  readonly requestsPerSecond: number;
  /** Of all requests ever, like the rate. */
  readonly averageLatency: number;
  /** 0..1 */
  readonly errorRate: number;
}

/** Adds up what went through all connections. */
export class Overall {
  readonly #startedAtMs: number;
  readonly #window = new MinuteWindow();
  #requests = 0;
  #failures = 0;
  #latencyMs = 0;

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  /** Requests that ended just now. */
  add(minute: Minute, nowMs: number): void {
    this.#window.add(minute, nowMs);
    this.correct(minute);
  }

  /** Requests that ended at any time. */
  correct({ requests, failures, latencyMs }: Minute): void {
    this.#requests += requests;
    this.#failures += failures;
    this.#latencyMs += latencyMs;
  }

  figures(nowMs: number): OverallFigures {
    const seconds = Math.min(Math.max((nowMs - this.#startedAtMs) / 1000, 1), 60);
    const isEmpty = this.#requests === 0;
    return {
      requestsPerSecond: rounded(this.#window.turn(nowMs).requests / seconds),
      averageLatency: isEmpty ? 0 : rounded(this.#latencyMs / this.#requests),
      errorRate: isEmpty ? 0 : this.#failures / this.#requests,
    };
  }
}
