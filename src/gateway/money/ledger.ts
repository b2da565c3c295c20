import type { Log } from '../../kit/log.ts';
import { deleteHolds } from './budget-store.ts';
import { Journal, type SpendPlace, type UnfinishedPlace } from './journal.ts';
import type { MoneyConfig } from './money-settings.ts';
import type { Spend } from './purse.ts';
import { addUp } from './spend-sums.ts';
import {
  deleteOldSpends,
  readSpend,
  recordSpends,
  type MoneySql,
  type SpendQuery,
} from './spend-store.ts';
import type { KeptPlace } from './unfinished-spends.ts';
import { endOrLate } from '../../kit/time/time-limits.ts';

export interface LedgerOptions {
  readonly sql: MoneySql;
  /** The suite's data folder. */
  readonly dataFolder: string;
  readonly config: MoneyConfig;
  readonly log: Log;
}

const delayMs = 500;
/** What is added up at one go: a few milliseconds of work. */
const batchMax = 5_000;
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
  /** Something came during a move that shall not wait. */
  #isUrgent = false;
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
   * Resolves once the spend would survive the end of this process; never rejects. That it counts is
   * hastened when something is held for it.
   */
  append(spend: Spend, place?: SpendPlace): void | Promise<void> {
    const written = this.#journal.append(spend, place);
    // Nothing is hastened while the database is away.
    const isHastened = place?.hold !== undefined && this.#retryMs === delayMs;
    this.#moveSoon(isHastened ? 0 : delayMs);
    return written;
  }

  /** Keeps what an unfinished request took so far, for the next process if this one dies. */
  keep(spend: Spend, place: UnfinishedPlace): KeptPlace | undefined {
    return this.#journal.keep(spend, place);
  }

  /** What was kept does not count any more. */
  takeBack(kept: KeptPlace): void {
    this.#journal.takeBack(kept);
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

  /** Takes over what other processes left and deletes what is too old; never rejects. */
  async sweep(): Promise<void> {
    const { sql, log } = this.#options;
    try {
      await this.#journal.adopt();
      this.#moveSoon(0);
      await deleteOldSpends(sql);
    } catch (error) {
      log.warn({ err: error }, 'the spends could not be tidied');
    }
  }

  /** Moves what it can within 5 seconds; the rest stays in the journal for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#timer);
    this.#isClosed = true;
    const moved = this.flush().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'spends stay in the journal until the next start');
    });
    await endOrLate(moved, closeMaxMs);
    await this.#journal[Symbol.asyncDispose]();
  }

  /** At most one timer; one that comes sooner takes its place. */
  #moveSoon(inMs: number): void {
    if (this.#moving && inMs === 0) this.#isUrgent = true;
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
      if (!this.#journal.isEmpty || this.#freed.size > 0) {
        this.#moveSoon(this.#isUrgent ? 0 : delayMs);
      }
    });
    return this.#moving;
  }

  async #moveAll(): Promise<void> {
    const isDone = this.#journal.mark();
    this.#isUrgent = false;
    do {
      const batch = await this.#journal.next(batchMax);
      if (!batch) break;
      // Where it is not as far as was believed, nothing was counted, and the next round knows better.
      const through = await recordSpends(this.#options.sql, {
        run: batch.run,
        after: batch.after,
        through: batch.entries.at(-1)?.seq ?? batch.after,
        sums: addUp(batch.entries),
        holds: batch.entries.flatMap(({ hold }) => hold ?? []),
      });
      await this.#journal.markMoved(through);
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
