import type { Bus } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { newId } from '../../kit/ids.ts';
import type { Conversations } from '../conversations/conversation.ts';
import type { Gateway } from './gateway.ts';
import { KnownHistories } from './known-histories.ts';
import { Leases } from './leases.ts';
import { endOrphan } from './orphans.ts';
import type { Turn, TurnEvent, TurnListener } from './turn.ts';
import { TurnFeeds } from './turn-feeds.ts';
import type { TurnFeed } from './turn-feed.ts';
import { eventOf } from './turn-log.ts';
import { TurnNews, type TurnTold } from './turn-news.ts';
import { TurnRecord } from './turn-record.ts';
import type { StoredTurn } from './turn-row.ts';
import { TurnRun, type RunTask } from './turn-run.ts';
import { TurnWrites } from './turn-writes.ts';
import { readGround } from './beginnings-store.ts';
import { leaseSeconds, readStoredSeq, type TurnSql } from './turns-store.ts';

/** In milliseconds. */
export interface TurnTiming {
  /** How long pieces of answers wait to be stored together. */
  readonly storeMs: number;
  /** How long they wait to be told to other replicas together. */
  readonly tellMs: number;
  /** How often a turn that is read here and runs elsewhere is looked at. */
  readonly pollMs: number;
  readonly renewMs: number;
  readonly sweepMs: number;
  /** How long the database has to answer without a break before what others ran is taken over. */
  readonly patienceMs: number;
}

const usualTiming: TurnTiming = {
  storeMs: 250,
  tellMs: 25,
  pollMs: 1_000,
  renewMs: 2_000,
  sweepMs: 4_000,
  patienceMs: leaseSeconds * 1000,
};

export interface RunningTurnsOptions {
  readonly sql: TurnSql;
  readonly bus: Bus;
  readonly log: Log;
  readonly conversations: Conversations;
  readonly gateway: Gateway;
  /** No other process can have the database open; what PGlite means when absent. */
  readonly isAlone?: boolean;
  readonly timing?: Partial<TurnTiming>;
}

/** The turns that run in this process, and what it knows of those that run in others. */
export class RunningTurns implements AsyncDisposable {
  readonly replica = newId('rep');
  readonly feeds: TurnFeeds;
  readonly histories = new KnownHistories();
  readonly #options: RunningTurnsOptions;
  readonly #runs = new Map<string, TurnRun>();
  /** With what to call when something was missed. */
  readonly #listeners = new Map<TurnListener, (() => void) | undefined>();
  readonly #writes: TurnWrites;
  readonly #news: TurnNews;
  readonly #leases: Leases;
  #isClosed = false;

  constructor(options: RunningTurnsOptions) {
    this.#options = options;
    const { sql, bus, log, isAlone = sql.dialect === 'pglite' } = options;
    const timing = { ...usualTiming, ...options.timing };
    const { replica } = this;
    this.feeds = new TurnFeeds({ sql, pollMs: timing.pollMs });
    this.#writes = new TurnWrites({
      sql,
      replica,
      log,
      delayMs: timing.storeMs,
      onLost: ({ turn }) => this.#runs.get(turn.id)?.abandon(),
    });
    this.#news = new TurnNews({
      bus,
      log,
      replica,
      delayMs: timing.tellMs,
      onEvents: (told) => this.#hear(told),
      onStop: (turnId) => void this.#runs.get(turnId)?.stop(),
      onMissed: () => {
        for (const onMissed of this.#listeners.values()) onMissed?.();
      },
    });
    this.#leases = new Leases({
      sql,
      replica,
      log,
      isAlone,
      ...timing,
      running: () => [...this.#runs.keys(), ...this.#writes.unstored()],
      onStopping: (turnId) => void this.#runs.get(turnId)?.stop(),
      onLost: (turnId) => this.#runs.get(turnId)?.abandon(),
      onOrphan: (stored) => this.#endOrphan(stored),
    });
  }

  /** Begins to hear of other replicas, and ends what dead ones left behind. */
  async start(): Promise<void> {
    await this.#news.open();
    await this.#leases.start();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A run of a turn that is this replica's. */
  open(turn: Turn, feed: TurnFeed, task: RunTask & { readonly isPending: boolean }): TurnRun {
    const record = this.#recordOf(turn, feed, task.isPending);
    const run = new TurnRun(record, task, this.#options);
    this.#runs.set(turn.id, run);
    void this.#closeAfter(run);
    return run;
  }

  get(turnId: string): TurnRun | undefined {
    return this.#runs.get(turnId);
  }

  findIn(ownerId: string, conversationId: string): TurnRun | undefined {
    for (const run of this.#runs.values()) {
      const { turn } = run.record;
      if (turn.conversationId === conversationId && turn.ownerId === ownerId) return run;
    }
    return undefined;
  }

  /** Asks whichever replica runs it to stop it. */
  tellStop(turnId: string): void {
    this.#news.stop(turnId);
  }

  /** Tells everybody what happened in a turn that does not run. */
  tell(told: TurnTold): void {
    this.#hear(told);
    this.#news.tell(told);
  }

  listen(listener: TurnListener, onMissed?: () => void): () => void {
    this.#listeners.set(listener, onMissed);
    return () => this.#listeners.delete(listener);
  }

  /** Interrupts what runs, and stores what there is of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#leases[Symbol.asyncDispose]();
    await Promise.all([...this.#runs.values()].map((run) => run.interrupt()));
    await this.#writes[Symbol.asyncDispose]();
    this.feeds[Symbol.dispose]();
    await this.#news[Symbol.asyncDispose]();
  }

  async #closeAfter({ record, ended }: TurnRun): Promise<void> {
    await ended;
    this.#runs.delete(record.turn.id);
    this.feeds.leave(record.turn.id);
  }

  #recordOf(turn: Turn, feed: TurnFeed, isPending: boolean): TurnRecord {
    return new TurnRecord(turn, feed, {
      conversations: this.#options.conversations,
      histories: this.histories,
      isPending,
      onEvent: (record, event) => this.#note(record, event),
      save: (record, state, events) => this.#writes.save(record, state, events),
    });
  }

  /** The path of every token. */
  #note(record: TurnRecord, event: TurnEvent): void {
    if (record.savedSeq < event.seq) this.#writes.note(record);
    this.#news.note(record);
    this.#tellHere(record.turn, event);
  }

  #hear(told: TurnTold): void {
    this.feeds.take(told);
    if (this.#listeners.size === 0) return;
    for (const entry of told.entries) this.#tellHere(told.turn, eventOf(entry));
  }

  #tellHere(turn: Turn, event: TurnEvent): void {
    for (const listener of this.#listeners.keys()) {
      try {
        listener(turn, event);
      } catch (error) {
        this.#options.log.error({ err: error }, 'who listens to turns failed');
      }
    }
  }

  async #endOrphan(stored: StoredTurn): Promise<void> {
    const { turn } = stored;
    const feed = await this.feeds.claim(turn.id);
    try {
      const record = this.#recordOf(turn, feed, true);
      // What the dead one told and did not store is stored now.
      record.savedSeq = await readStoredSeq(this.#options.sql, turn.id);
      const { conversationId } = turn;
      const ground =
        conversationId === undefined
          ? undefined
          : await readGround(this.#options.sql, conversationId);
      await endOrphan({ stored, record, ground });
    } finally {
      this.feeds.leave(turn.id);
    }
  }
}
