import type { Log } from '../../kit/log.ts';
import type { BaselineTable } from '../intake/baseline-table.ts';
import { readBaselines } from './history.ts';
import type { SeriesSql } from '../series/tables.ts';

const intervalMs = 60_000;

/** Reads the histories of operations every minute, for whoever must know them at once. */
export class BaselineFeed {
  readonly #sql: SeriesSql;
  readonly #take: (table: BaselineTable) => void;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;

  constructor(sql: SeriesSql, take: (table: BaselineTable) => void, log: Log) {
    this.#sql = sql;
    this.#take = take;
    this.#log = log;
  }

  /** Reads them now and then every minute. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#read(), intervalMs).unref();
    void this.#read();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    try {
      this.#take(await readBaselines(this.#sql, Date.now()));
    } catch (error) {
      this.#log.warn({ err: error }, 'the histories of operations could not be read');
    }
  }
}
