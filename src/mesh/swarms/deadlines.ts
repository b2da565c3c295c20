import type { Log } from '../../kit/log.ts';

export interface DeadlinesOptions {
  /** Ends what is due. */
  readonly endDue: () => Promise<void>;
  /** When something is due next, in milliseconds since the epoch. */
  readonly next: () => Promise<number | undefined>;
  readonly now: () => number;
  readonly log: Log;
}

/** How late a deadline may be that only the database knows: that of a replica which died. */
const lookEveryMs = 5_000;
const lookEveryMsMin = 5;

/** Watches the deadlines that stand in the database, so that they pass after a restart too. */
export class Deadlines implements AsyncDisposable {
  readonly #options: DeadlinesOptions;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isStopped = true;

  /** Watches nothing until it is started. */
  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    void this.look();
  }

  /** Tells of a deadline that the database has since just now. */
  expect(dueMs: number): void {
    if (dueMs < this.#dueMs) this.#arm(dueMs);
  }

  /** Ends what is due now; never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { endDue, next, now, log } = this.#options;
    clearTimeout(this.#timer);
    this.#dueMs = Number.POSITIVE_INFINITY;
    let dueMs = now() + lookEveryMs;
    try {
      await endDue();
      dueMs = Math.min((await next()) ?? dueMs, dueMs);
    } catch (error) {
      log.warn({ err: error }, 'the deadlines of swarms could not be looked at');
    }
    // An earlier one may have come meanwhile.
    this.#arm(Math.min(dueMs, this.#dueMs));
  }

  #arm(dueMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    const waitMs = Math.max(dueMs - this.#options.now(), lookEveryMsMin);
    this.#timer = setTimeout(() => void this.look(), Math.min(waitMs, lookEveryMs)).unref();
  }
}
