import type { Log } from '../../kit/log.ts';
import { deleteDisconnected, type ConnectionSql } from './connection-store.ts';
import { deleteOldHistory, deleteSurplusHistory } from './history-store.ts';
import type { Replication } from './replication.ts';
import type { RequestLog } from './request-log.ts';

export interface UpkeepOptions {
  readonly sql: ConnectionSql;
  readonly requests: RequestLog;
  readonly replication: Replication;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

const keptMs = 30 * 24 * 3_600_000;
const pruneMs = 3_600_000;
const sweepMsMax = 10_000;
/** More disconnected ones than these are forgotten before their time. */
const disconnectedMax = 10_000;
/** Of one connection. */
const historyMax = 1_000;

/** What time does to connections: they become idle, and long after their end they are forgotten. */
export class Upkeep implements AsyncDisposable {
  readonly #options: UpkeepOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  #working: Promise<void> = Promise.resolve();

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(idleAfterSeconds: number): void {
    const sweepMs = Math.min(sweepMsMax, Math.max(250, idleAfterSeconds * 250));
    this.#every(sweepMs, () => this.sweep());
    this.#every(pruneMs, () => this.prune());
  }

  /** Makes those idle that had no request for long, and tells other replicas what they missed. */
  async sweep(): Promise<void> {
    const { requests, replication } = this.#options;
    await requests.flush();
    await requests.sweep();
    await replication.catchUp();
  }

  /** Forgets what ended or happened thirty days ago, and more than a history may hold. */
  async prune(): Promise<void> {
    const { sql, replication, now } = this.#options;
    const beforeMs = now() - keptMs;
    const removals = await deleteDisconnected(sql, { beforeMs, keptMax: disconnectedMax });
    if (removals.length > 0) replication.tell({ removals });
    await deleteOldHistory(sql, beforeMs);
    await deleteSurplusHistory(sql, historyMax);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#working;
  }

  #every(intervalMs: number, work: () => Promise<void>): void {
    const timer = setInterval(() => {
      this.#working = this.#working.then(work).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'the upkeep of connections failed');
      });
    }, intervalMs);
    this.#timers.push(timer.unref());
  }
}
