import { readEntries, readTurn, type TurnSql } from './turns-store.ts';
import type { Turn } from './turn.ts';
import { TurnFeed } from './turn-feed.ts';
import type { LogEntry } from './turn-log.ts';
import type { TurnTold } from './turn-news.ts';
import { failureOf, turnLost } from './turn-faults.ts';

/** A feed that is kept as long as somebody holds it. */
export interface HeldFeed extends Disposable {
  readonly feed: TurnFeed;
}

/** Gives the feed of a turn, whether it runs here or elsewhere or has ended. */
export interface FeedHolder {
  hold(turn: Pick<Turn, 'id'>): Promise<HeldFeed>;
}

interface Kept {
  readonly feed: TurnFeed;
  holders: number;
  /** It runs here: its run fills the feed, and nothing else does. */
  isLocal: boolean;
  loading: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  /** What was told while something before it is still missing. */
  early: LogEntry[];
}

/** A replica stores within this time what it tells at once. */
const storedWithinMs = 300;
const earlyMax = 10_000;

export interface TurnFeedsOptions {
  readonly sql: TurnSql;
  /** How often a turn that runs elsewhere is looked at, in case the bus has lost something. */
  readonly pollMs: number;
}

/**
 * The feeds of the turns that run here or are read here, one each. One of a turn that runs elsewhere is
 * filled from the bus, and from the database where the bus leaves a gap.
 */
export class TurnFeeds implements Disposable {
  readonly #options: TurnFeedsOptions;
  readonly #kept = new Map<string, Kept>();
  #isClosed = false;

  constructor(options: TurnFeedsOptions) {
    this.#options = options;
  }

  /** The feed of a turn, with all that happened in it. */
  async hold(turnId: string): Promise<HeldFeed> {
    const kept = this.#keep(turnId);
    kept.holders += 1;
    const release = () => this.#release(turnId, kept);
    try {
      if (!kept.isLocal) await this.#load(turnId, kept);
    } catch (error) {
      release();
      throw error;
    }
    return { feed: kept.feed, [Symbol.dispose]: once(release) };
  }

  /** The same of a turn that runs here from now on: only its run may add to it. */
  async claim(turnId: string): Promise<TurnFeed> {
    const kept = this.#keep(turnId);
    kept.holders += 1;
    await this.#load(turnId, kept);
    // A load that was under way may have come before the latest events.
    await this.#load(turnId, kept);
    kept.isLocal = true;
    kept.early = [];
    clearTimeout(kept.timer);
    return kept.feed;
  }

  /** The feed of a turn that has just begun here. */
  begin(turnId: string): TurnFeed {
    const kept = this.#keep(turnId);
    kept.holders += 1;
    kept.isLocal = true;
    return kept.feed;
  }

  /** It no longer runs here; who reads it goes on reading. */
  leave(turnId: string): void {
    const kept = this.#kept.get(turnId);
    if (!kept) return;
    kept.isLocal = false;
    this.#release(turnId, kept);
    this.#watch(turnId, kept);
  }

  /** Takes what another replica tells. */
  take({ turn, entries }: TurnTold): void {
    const kept = this.#kept.get(turn.id);
    if (!kept || kept.isLocal) return;
    if (!kept.loading && kept.early.length === 0 && kept.feed.take(entries)) return;
    // What comes next is not lost while what is missing is on its way to the database.
    if (kept.early.length >= earlyMax) kept.early = [];
    const isFirst = kept.early.length === 0;
    kept.early.push(...entries);
    if (isFirst && !kept.loading) this.#watch(turn.id, kept);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { timer } of this.#kept.values()) clearTimeout(timer);
  }

  #keep(turnId: string): Kept {
    const known = this.#kept.get(turnId);
    if (known) return known;
    const kept: Kept = {
      feed: new TurnFeed(),
      holders: 0,
      isLocal: false,
      loading: undefined,
      timer: undefined,
      early: [],
    };
    this.#kept.set(turnId, kept);
    return kept;
  }

  #release(turnId: string, kept: Kept): void {
    kept.holders -= 1;
    if (kept.holders > 0) return;
    clearTimeout(kept.timer);
    if (this.#kept.get(turnId) === kept) this.#kept.delete(turnId);
  }

  #load(turnId: string, kept: Kept): Promise<void> {
    kept.loading ??= this.#read(turnId, kept).finally(() => {
      kept.loading = undefined;
      this.#watch(turnId, kept);
    });
    return kept.loading;
  }

  async #read(turnId: string, kept: Kept): Promise<void> {
    const { feed } = kept;
    feed.take(await readEntries(this.#options.sql, turnId, feed.log.lastSeq));
    if (feed.take(kept.early)) kept.early = [];
  }

  #watch(turnId: string, kept: Kept): void {
    clearTimeout(kept.timer);
    if (kept.isLocal || kept.holders <= 0 || kept.feed.isOver || this.#isClosed) return;
    const look = () => void this.#look(turnId, kept);
    const { pollMs } = this.#options;
    kept.timer = setTimeout(look, kept.early.length > 0 ? storedWithinMs : pollMs);
  }

  /** A database that is away is asked again. */
  async #look(turnId: string, kept: Kept): Promise<void> {
    const before = kept.feed.log.lastSeq;
    try {
      await this.#load(turnId, kept);
      if (kept.feed.log.lastSeq > before || kept.isLocal || kept.feed.isOver) return;
      if (await this.#goesOn(turnId)) return;
      await this.#load(turnId, kept);
      // Deleted with its conversation, or its last words are lost.
      const { feed, isLocal } = kept;
      const after = feed.log.lastSeq;
      if (!isLocal && !feed.isOver) feed.push({ ...failureOf(turnLost()), after });
    } catch {
      this.#watch(turnId, kept);
    }
  }

  async #goesOn(turnId: string): Promise<boolean> {
    const stored = await readTurn(this.#options.sql, turnId, undefined);
    return stored?.turn.status === 'running' || stored?.turn.status === 'waiting';
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
