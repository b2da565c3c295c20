import { newId } from '../../../kit/ids.ts';
import type { Log } from '../../../kit/log.ts';
import type { EngineSql } from '../journal/journal-store.ts';
import { beat, enterReplica, leaveReplica, type Beat } from './replicas-store.ts';

export interface ReplicaOptions {
  readonly sql: EngineSql;
  readonly log: Log;
  /** Nobody else can have the database open, so that all former owners are dead. */
  readonly isAlone: boolean;
  readonly beatMs: number;
  /** After how long without a beat others take over. */
  readonly silenceMs: number;
  readonly onBeat: (beat: Beat) => void;
  /** Others hold this replica for dead; it has a new name from now on. */
  readonly onLost: () => void;
}

/** This process as others know it: alive as long as it beats. */
export class Replica {
  readonly #options: ReplicaOptions;
  #id = newId('rep');
  #timer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #beating: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  get id(): string {
    return this.#id;
  }

  async start(): Promise<void> {
    const { sql, isAlone } = this.#options;
    await enterReplica(sql, this.#id, { isAlone });
    await this.beatNow();
  }

  /** Looks again no later than at this time, because something waits for it. */
  lookAt(timeMs: number): void {
    if (timeMs >= this.#wakeAtMs || this.#isStopped) return;
    this.#wakeAtMs = timeMs;
    clearTimeout(this.#wakeTimer);
    const { beatMs } = this.#options;
    const delayMs = timeMs - Date.now();
    // What is further off than a beat is found by one.
    if (delayMs > beatMs) this.#wakeAtMs = Number.POSITIVE_INFINITY;
    else this.#wakeTimer = setTimeout(() => void this.beatNow(), Math.max(1, delayMs + 1));
  }

  /** Never rejects: a database that is away is asked again with the next beat. */
  beatNow(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#wakeTimer);
    await this.#beating;
    await leaveReplica(this.#options.sql, this.#id);
  }

  async #beat(): Promise<void> {
    const { sql, log, silenceMs, beatMs, onBeat, onLost } = this.#options;
    clearTimeout(this.#timer);
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    try {
      const seen = await beat(sql, this.#id, { silenceMs });
      if (!seen.isAlive) {
        log.warn('others took over the executions of this replica, because it was silent too long');
        this.#id = newId('rep');
        await enterReplica(sql, this.#id, { isAlone: false });
        onLost();
      }
      if (!this.#isStopped) onBeat(seen);
    } catch (error) {
      log.warn({ err: error }, 'this replica could not say that it lives; trying again');
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.beatNow(), beatMs);
  }
}
