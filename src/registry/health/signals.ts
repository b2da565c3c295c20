import type { Connection, Directory } from '../connections/connection.ts';
import type { Links } from '../links/link.ts';
import type { Outcome } from '../traffic/traffic.ts';
import { failureOf } from './finding.ts';
import type { HealthLedger } from './ledger.ts';
import type { HealthScheduler } from './scheduler.ts';

export interface HealthSignalsOptions {
  readonly directory: Pick<Directory, 'find'>;
  readonly ledger: Pick<HealthLedger, 'enterSignal' | 'standing'>;
  readonly scheduler: Pick<HealthScheduler, 'checkSoon'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Of one connection one failure counts in this time: a hundred calls can meet the same one. */
const onceInMs = 5_000;
const rememberedMax = 10_000;

/**
 * What calls show of a connection's health. A failure counts as one of the three in a row and has the
 * connection checked at once; a success makes a connection that failed well again.
 */
export class HealthSignals {
  readonly #options: HealthSignalsOptions;
  /** When each connection's last failure was counted. */
  readonly #countedAtMs = new Map<string, number>();

  constructor(options: HealthSignalsOptions) {
    this.#options = options;
  }

  /** Takes note of links that break by themselves; the answer ends it. */
  follow(links: Pick<Links, 'onBroken'>): () => void {
    return links.onBroken((connectionId) => this.#broken(connectionId));
  }

  /** Costs a look-up while all is well. */
  notePassive(connectionId: string, outcome: Outcome): void {
    const connection = this.#find(connectionId);
    if (!connection) return;
    if (outcome === 'error') this.#fail(connection, 'calls_failed');
    else this.#succeed(connection);
  }

  /** An idle connection needs no link; it is opened again when somebody calls. */
  #broken(connectionId: string): void {
    const connection = this.#find(connectionId);
    if (connection && connection.status !== 'idle') this.#fail(connection, 'connection_lost');
  }

  #succeed(connection: Connection): void {
    const { ledger } = this.#options;
    if (ledger.standing(connection).health.failuresInRow === 0) return;
    ledger.enterSignal(connection, { isAnswered: true, responseTimeMs: 0 });
  }

  #fail(connection: Connection, reason: string): void {
    const { ledger, scheduler, now } = this.#options;
    const nowMs = now();
    if (nowMs - (this.#countedAtMs.get(connection.id) ?? Number.NEGATIVE_INFINITY) < onceInMs) {
      return;
    }
    if (this.#countedAtMs.size >= rememberedMax) this.#countedAtMs.clear();
    this.#countedAtMs.set(connection.id, nowMs);
    ledger.enterSignal(connection, { isAnswered: false, responseTimeMs: 0, ...failureOf(reason) });
    scheduler.checkSoon(connection.id);
  }

  #find(connectionId: string): Connection | undefined {
    const connection = this.#options.directory.find(connectionId);
    return connection?.status === 'disconnected' ? undefined : connection;
  }
}
