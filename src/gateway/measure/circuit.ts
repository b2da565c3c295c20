import { SlidingCount } from './sliding-count.ts';

const failuresInARow = 5;
const attemptsMin = 10;
const failedShareMax = 0.5;
const window = { steps: 30, stepMs: 1_000 };
const openMsFirst = 2_000;
const openMsMax = 60_000;
const probeMs = 1_000;

/**
 * A circuit breaker: opens after five failures in a row, or when more than half of at least ten
 * attempts within 30 s failed; stays open for 2 s, twice as long each time, 60 s at most; then lets
 * one attempt through at a time until one succeeds.
 */
export class Circuit {
  readonly #attempts = new SlidingCount(window);
  readonly #failures = new SlidingCount(window);
  #inARow = 0;
  #openMs = openMsFirst;
  #openUntil: number | undefined;
  #isProbing = false;

  state(now: number): 'closed' | 'open' | 'half-open' {
    if (this.#openUntil === undefined) return 'closed';
    return now < this.#openUntil ? 'open' : 'half-open';
  }

  /** Milliseconds until an attempt may be made; 0: now. */
  waitMs(now: number): number {
    if (this.#openUntil === undefined) return 0;
    if (now < this.#openUntil) return this.#openUntil - now;
    return this.#isProbing ? probeMs : 0;
  }

  /** An attempt begins; call only where `waitMs` is 0. */
  begin(now: number): void {
    if (this.state(now) === 'half-open') this.#isProbing = true;
  }

  succeed(now: number): void {
    this.#attempts.add(now);
    this.#inARow = 0;
    this.#openUntil = undefined;
    this.#openMs = openMsFirst;
    this.#isProbing = false;
  }

  fail(now: number): void {
    const wasClosed = this.#openUntil === undefined;
    this.#attempts.add(now);
    this.#failures.add(now);
    this.#inARow += 1;
    this.#isProbing = false;
    if (wasClosed && !this.#isTooMuch(now)) return;
    // Attempts that began before it opened say nothing new.
    if (this.state(now) === 'open') return;
    this.#openUntil = now + this.#openMs;
    this.#openMs = Math.min(openMsMax, this.#openMs * 2);
  }

  /** An attempt ended without a verdict. */
  forget(): void {
    this.#isProbing = false;
  }

  #isTooMuch(now: number): boolean {
    if (this.#inARow >= failuresInARow) return true;
    const attempts = this.#attempts.total(now);
    return attempts >= attemptsMin && this.#failures.total(now) > attempts * failedShareMax;
  }
}
