import type { Log } from '../../kit/log.ts';
import type { LiveTurn } from './live-turn.ts';
import { writeTurns, type TurnSql, type TurnState, type TurnWrite } from './turns-store.ts';

export interface TurnWritesOptions {
  readonly sql: TurnSql;
  readonly replica: string;
  readonly log: Log;
  /** How long pieces of text wait for company. */
  readonly delayMs: number;
  /** Of a turn that others hold for dead. */
  readonly onLost: (live: LiveTurn) => void;
}

interface Waiting {
  readonly state: TurnState | undefined;
  readonly events: TurnWrite['entries'];
  readonly settle: (isOurs: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Stores what happens in the turns of this replica: all of them in one statement, every now and then. */
export class TurnWrites implements AsyncDisposable {
  readonly #options: TurnWritesOptions;
  /** Turns with something to store, and their changes of state, which somebody waits for. */
  readonly #dirty = new Map<LiveTurn, Waiting | undefined>();
  /** Those of the statement that is under way. */
  #taken: readonly LiveTurn[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: TurnWritesOptions) {
    this.#options = options;
  }

  /** Something new is in the turn's log; it is stored soon. */
  note(live: LiveTurn): void {
    if (!this.#dirty.has(live)) this.#dirty.set(live, undefined);
    this.#timer ??= setTimeout(() => this.#start(), this.#options.delayMs);
  }

  /**
   * Stores all of a turn at once, with events that come next and its new state. False when the turn is
   * no longer this replica's, and nothing of it was stored. One at a time for each turn.
   */
  save(live: LiveTurn, state: TurnState, events: TurnWrite['entries'] = []): Promise<boolean> {
    return new Promise((settle, fail) => {
      this.#dirty.set(live, { state, events, settle, fail });
      this.#start();
    });
  }

  /** The turns with something that is not stored yet; one may be named twice. */
  unstored(): readonly string[] {
    return [...this.#dirty.keys(), ...this.#taken].map(({ turn }) => turn.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#writing) await this.#writing;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      const { delayMs } = this.#options;
      if (this.#dirty.size > 0) this.#timer ??= setTimeout(() => this.#start(), delayMs);
    });
  }

  async #writeAll(): Promise<void> {
    // What comes while a statement runs goes with the next: at once where somebody waits for it.
    do {
      const taken = [...this.#dirty];
      this.#dirty.clear();
      await this.#write(taken);
    } while ([...this.#dirty.values()].some((waiting) => waiting !== undefined));
  }

  async #write(taken: readonly (readonly [LiveTurn, Waiting | undefined])[]): Promise<void> {
    const { sql, replica, log, onLost } = this.#options;
    this.#taken = taken.map(([live]) => live);
    const writes = taken.map(([live, waiting]) => writeOf(live, waiting));
    try {
      const ours = await writeTurns(sql, replica, writes);
      for (const [index, [live, waiting]] of taken.entries()) {
        const isOurs = ours.has(live.turn.id);
        if (isOurs) live.savedSeq = writes[index]?.lastSeq ?? live.savedSeq;
        else onLost(live);
        waiting?.settle(isOurs);
      }
    } catch (error) {
      for (const [live, waiting] of taken) {
        waiting?.fail(error);
        // Its pieces are still in the log.
        if (!waiting) this.note(live);
      }
      log.warn({ err: error }, 'what models answer could not be stored; trying again');
    } finally {
      this.#taken = [];
    }
  }
}

function writeOf(live: LiveTurn, waiting: Waiting | undefined): TurnWrite {
  const { log } = live.feed;
  const events = waiting?.events ?? [];
  return {
    turnId: live.turn.id,
    entries: [...log.entriesSince(live.savedSeq), ...events],
    lastSeq: events.at(-1)?.seq ?? log.lastSeq,
    state: waiting?.state,
  };
}
