import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { SearchSql } from './embedders-store.ts';
import { findRenewed, renewWords } from './words-renewal-store.ts';

const countMax = 200;
/** Bytes of one statement, whose words take a few tenths of a second. */
const portionBytes = 256 * 1024;
const pauseMs = 50;
const retryMs = 5_000;

/**
 * Makes the words of stored messages anew in the background, once after an upgrade that changed what they are; until
 * then these messages are found by the words they have.
 */
export class WordsRenewal implements AsyncDisposable {
  readonly #sql: SearchSql;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #count = countMax;

  constructor(sql: SearchSql, log: Log) {
    this.#sql = sql;
    this.#log = log;
    this.#running = this.#run();
  }

  /** Resolves when the statement under way has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    // What starts the service shall not wait for this.
    let restMs: number | undefined = 0;
    while (restMs !== undefined) {
      await sleep(restMs, undefined, { ref: false, signal: this.#stop.signal }).catch(() => {});
      if (this.#stop.signal.aborted) return;
      restMs = await this.#step();
    }
  }

  /** Answers how many milliseconds are left to others; undefined when all is done. */
  async #step(): Promise<number | undefined> {
    try {
      const from = await findRenewed(this.#sql);
      return from === undefined ? undefined : await this.#renew(from);
    } catch (error) {
      if (Fault.from(error).code !== 'unavailable')
        this.#log.warn({ err: error }, 'how far words were made anew could not be read');
      return retryMs;
    }
  }

  async #renew(from: string): Promise<number> {
    const startedAtMs = performance.now();
    try {
      await renewWords(this.#sql, this.#portion(from, false));
      this.#count = Math.min(countMax, 2 * this.#count);
      return Math.max(pauseMs, performance.now() - startedAtMs);
    } catch (error) {
      return await this.#narrow(from, error);
    }
  }

  /** Comes nearer to the message behind `from` whose words cannot be made, and leaves it as it is. */
  async #narrow(from: string, error: unknown): Promise<number> {
    if (Fault.from(error).code === 'unavailable') return retryMs;
    this.#log.warn({ err: error, count: this.#count }, 'words of messages could not be made anew');
    if (this.#count === 1) await renewWords(this.#sql, this.#portion(from, true));
    this.#count = Math.ceil(this.#count / 8);
    return pauseMs;
  }

  #portion(from: string, isSkipped: boolean) {
    return { from, count: this.#count, bytes: portionBytes, isSkipped };
  }
}
