import { setTimeout } from 'node:timers/promises';
import { Fault } from '../errors.ts';

const readsAtOnce = 10;
const readsPerSecond = 2;
const waitingMax = 1_000;

/**
 * Reads of what changes elsewhere, shared by all who ask: each promise stands for a read that
 * started after it was asked for, and no two reads run at the same time.
 */
export class FreshReads {
  readonly #read: () => Promise<void>;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #paced: Promise<void> | undefined;
  #waiting = 0;
  #allowance = readsAtOnce;
  #countedAt = performance.now();

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Reads as soon as the read that runs has ended. */
  now(): Promise<void> {
    if (this.#queued) return this.#queued;
    if (!this.#running) return this.#start();
    const afterRunning = () => {
      this.#queued = undefined;
      return this.#start();
    };
    this.#queued = this.#running.then(afterRunning, afterRunning);
    return this.#queued;
  }

  /**
   * Reads for a caller whom nobody vouches for: ten reads at once and two a second after that; who
   * comes later waits for the next one. Rejects with `unavailable` when 1,000 wait already.
   */
  async paced(): Promise<void> {
    if (this.#waiting >= waitingMax) {
      throw new Fault('unavailable', 'too many wait for the same reading', { retryAfter: 1 });
    }
    this.#waiting += 1;
    try {
      await this.#nextAllowed();
    } finally {
      this.#waiting -= 1;
    }
  }

  #nextAllowed(): Promise<void> {
    const next = this.#queued ?? this.#paced;
    if (next) return next;
    const delayMs = this.#takeAllowance();
    if (delayMs === 0) return this.now();
    this.#paced = setTimeout(delayMs).then(() => {
      this.#paced = undefined;
      return this.now();
    });
    return this.#paced;
  }

  /** Takes one read; answers in how many milliseconds it may start. */
  #takeAllowance(): number {
    const now = performance.now();
    const regained = ((now - this.#countedAt) / 1000) * readsPerSecond;
    this.#countedAt = now;
    this.#allowance = Math.min(readsAtOnce, this.#allowance + regained) - 1;
    return this.#allowance >= 0 ? 0 : (-this.#allowance / readsPerSecond) * 1000;
  }

  #start(): Promise<void> {
    this.#running = this.#read().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
