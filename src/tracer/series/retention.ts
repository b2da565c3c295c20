import type { Log } from '../../kit/log.ts';
import { deleteEmptySeries } from './labels-store.ts';
import { dropPartitions, listPartitions, openPartitions } from './partitions-store.ts';
import {
  firstDayOf,
  isOver,
  neededPartitions,
  partitionedTables,
  partitionName,
  type PartitionedTable,
} from './partitions.ts';
import type { SeriesSql } from './tables.ts';

export interface RetentionOptions {
  readonly sql: SeriesSql;
  readonly log: Log;
  /** Milliseconds since the epoch; the machine's clock by default. */
  readonly nowMs?: () => number;
}

const intervalMs = 10 * 60_000;

/**
 * Has the partitions ready into which today and tomorrow are written, and drops those that are wholly
 * past their retention: at once, then every ten minutes. Of several replicas each may do it.
 */
export class Retention implements AsyncDisposable {
  readonly #sql: SeriesSql;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  private constructor({ sql, log, nowMs = Date.now }: RetentionOptions) {
    this.#sql = sql;
    this.#log = log;
    this.#nowMs = nowMs;
    this.#timer = setInterval(() => this.#start(), intervalMs).unref();
  }

  /** Nothing can be stored before it resolves; rejects when the database refuses. */
  static async open(options: RetentionOptions): Promise<Retention> {
    const retention = new Retention(options);
    try {
      await retention.run();
      return retention;
    } catch (error) {
      await retention[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Does it now. */
  async run(): Promise<void> {
    const nowMs = this.#nowMs();
    const known = await listPartitions(this.#sql, partitionedTables);
    const dropped: string[] = [];
    for (const table of partitionedTables) {
      const names = known.get(table.table) ?? new Set();
      await this.#open(table, { names, nowMs });
      dropped.push(...(await this.#drop(table, { names, nowMs })));
    }
    if (dropped.length > 0) this.#log.info({ dropped }, 'what was kept long enough is dropped');
    if (dropped.some((name) => name.startsWith('block_day_'))) await deleteEmptySeries(this.#sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #open(table: PartitionedTable, { names, nowMs }: Found): Promise<void> {
    const needed = neededPartitions(table, nowMs);
    const missing = needed.filter((day) => !names.has(partitionName(table, day)));
    if (missing.length > 0) await openPartitions(this.#sql, table, missing);
  }

  async #drop(table: PartitionedTable, { names, nowMs }: Found): Promise<string[]> {
    const over = [...names].filter((name) => {
      const firstDay = firstDayOf(table, name);
      return firstDay !== undefined && isOver(table, firstDay, nowMs);
    });
    if (over.length > 0) await dropPartitions(this.#sql, over);
    return over;
  }

  #start(): void {
    this.#running = this.#runAfter(this.#running);
  }

  async #runAfter(before: Promise<void>): Promise<void> {
    await before;
    try {
      await this.run();
    } catch (error) {
      this.#log.error({ err: error }, 'the partitions of the traces could not be kept');
    }
  }
}

interface Found {
  readonly names: ReadonlySet<string>;
  readonly nowMs: number;
}
