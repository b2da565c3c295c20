import type { Log } from '../../kit/log.ts';
import { deleteHolds } from './budget-store.ts';
import { Journal, type SpendPlace } from './journal.ts';
import type { MoneyConfig } from './money-settings.ts';
import type { Spend } from './purse.ts';
import {
  deleteOldSpends,
  readRecentSpends,
  readSpend,
  recordSpends,
  type MoneySql,
  type RecentQuery,
  type SpendQuery,
} from './spend-store.ts';

export interface LedgerOptions {
  readonly sql: MoneySql;
  /** The suite's data folder. */
  readonly dataFolder: string;
  readonly config: MoneyConfig;
  readonly log: Log;
}

const delayMs = 200;
const batchMax = 500;
const retryMsMax = 30_000;
const closeMaxMs = 5_000;
const sweepMs = 60 * 60_000;
/** Holds to free that may wait for the database; the others expire. */
const freedMax = 10_000;

/**
 * What was spent: in the journal at once, in the database soon after, each spend once. While the
 * database is away the journal grows up to its bound.
 */
export class Ledger implements AsyncDisposable {
  readonly #options: LedgerOptions;
  readonly #journal: Journal;
  readonly #freed = new Set<string>();
  readonly #sweepTimer: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #isHastened = false;
  #waiting = 0;
  #retryMs = delayMs;
  #moving: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: LedgerOptions, journal: Journal) {
    this.#options = options;
    this.#journal = journal;
    this.#sweepTimer = setInterval(() => void this.sweep(), sweepMs).unref();
  }

  /** Takes over the journals that dead processes left, and begins to move them. */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const { dataFolder, config, log } = options;
    const bytesMax = config.journalMb * 1024 * 1024;
    const ledger = new Ledger(options, await Journal.open({ dataFolder, bytesMax, log }));
    ledger.#moveSoon(0);
    return ledger;
  }

  /** How the journal stands: bytes that are not in the database, and spends that are nowhere. */
  get journal(): { readonly bytes: number; readonly lost: number } {
    const { bytes, lost } = this.#journal;
    return { bytes, lost };
  }

  /**
   * Returns once the spend would survive the end of this process. That it counts is hastened when
   * something is held for it.
   */
  append(spend: Spend, place: SpendPlace = {}): void {
    this.#journal.append(spend, place);
    this.#waiting += 1;
    const isDue = place.hold !== undefined || this.#waiting >= batchMax;
    // Nothing is hastened while the database is away.
    this.#moveSoon(isDue && this.#retryMs === delayMs ? 0 : delayMs);
  }

  /** Frees a hold of which nothing was spent; behind the answer. */
  free(hold: string): void {
    if (this.#freed.size >= freedMax) return;
    this.#freed.add(hold);
    this.#moveSoon(0);
  }

  /** Moves everything that is in the journal now; rejects when the database does not take it. */
  async flush(): Promise<void> {
    while (this.#moving) await this.#moving.catch(() => {});
    await this.#move();
  }

  /** Sums of what was spent, up to now. */
  async report(query: SpendQuery) {
    await this.flush();
    return readSpend(this.#options.sql, query);
  }

  /** Spends of the last 7 days one by one, up to now. */
  async recent(query: RecentQuery) {
    await this.flush();
    return readRecentSpends(this.#options.sql, query);
  }

  /** Takes over what other processes left and deletes what is too old; never rejects. */
  async sweep(): Promise<void> {
    const { sql, config, log } = this.#options;
    try {
      await this.#journal.adopt();
      this.#moveSoon(0);
      await deleteOldSpends(sql, config.recentSpendsMax);
    } catch (error) {
      log.warn({ err: error }, 'the spends could not be tidied');
    }
  }

  /** Moves what it can within 5 seconds; the rest stays in the journal for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#timer);
    this.#isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, closeMaxMs)));
    const moved = this.flush().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'spends stay in the journal until the next start');
    });
    await Promise.race([moved, limit]).finally(() => clearTimeout(timer));
    await this.#journal[Symbol.asyncDispose]();
  }

  /** At most one timer; one that comes sooner takes its place. */
  #moveSoon(inMs: number): void {
    if (this.#isClosed || this.#moving) return;
    if (this.#timer && (inMs > 0 || this.#isHastened)) return;
    clearTimeout(this.#timer);
    this.#isHastened = inMs === 0;
    const delay = Math.max(inMs, this.#retryMs === delayMs ? 0 : this.#retryMs);
    this.#timer = setTimeout(() => void this.#moveOrRetry(), delay).unref();
  }

  async #moveOrRetry(): Promise<void> {
    try {
      await this.#move();
    } catch (error) {
      if (this.#retryMs === delayMs) {
        this.#options.log.warn({ err: error }, 'spends wait in the journal for the database');
      }
      this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax);
    }
  }

  #move(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#moving ??= this.#moveAll().finally(() => {
      this.#moving = undefined;
      if (!this.#journal.isEmpty || this.#freed.size > 0) this.#moveSoon(delayMs);
    });
    return this.#moving;
  }

  async #moveAll(): Promise<void> {
    const isDone = this.#journal.mark();
    do {
      this.#waiting = 0;
      const entries = await this.#journal.next(batchMax);
      if (entries.length === 0) break;
      await recordSpends(this.#options.sql, entries);
      await this.#journal.markMoved(entries.length);
    } while (!isDone());
    await this.#freeHolds();
    this.#retryMs = delayMs;
  }

  async #freeHolds(): Promise<void> {
    if (this.#freed.size === 0) return;
    const ids = [...this.#freed];
    await deleteHolds(this.#options.sql, ids);
    for (const id of ids) this.#freed.delete(id);
  }
}
