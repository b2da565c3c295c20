import type { Log } from '../../kit/log.ts';
import { adoptTurns, renewLeases, type Contact } from './leases-store.ts';
import type { StoredTurn } from './turn-row.ts';
import { leaseSeconds, type TurnSql } from './turns-store.ts';

export interface LeasesOptions {
  readonly sql: TurnSql;
  readonly replica: string;
  readonly log: Log;
  /** Nobody else can have the database open, so that at the start nobody runs anything. */
  readonly isAlone: boolean;
  readonly renewMs: number;
  readonly sweepMs: number;
  /** How long the database has to answer without a break before what others ran is taken over. */
  readonly patienceMs: number;
  /** The turns that run in this process, or ended in it and wait to be stored. */
  readonly running: () => readonly string[];
  /** Of one of them: its user wants it to end. */
  readonly onStopping: (turnId: string) => void;
  /** Of one of them: others have taken it over. */
  readonly onLost: (turnId: string) => void;
  /** A turn that nobody runs any more: it is this replica's to end. */
  readonly onOrphan: (stored: StoredTurn) => Promise<void>;
}

/**
 * What counts as a break: shorter ones leave the living time to renew, for a lease outlasts one, the
 * renewal before it and the one behind it.
 */
const breakMs = (leaseSeconds * 1000) / 2;

/** Keeps what runs here for this replica, and finds what nobody runs any more. */
export class Leases implements AsyncDisposable {
  readonly #options: LeasesOptions;
  #renewTimer: NodeJS.Timeout | undefined;
  #sweepTimer: NodeJS.Timeout | undefined;
  #work: Promise<unknown> = Promise.resolve();
  /** With the database, as the renewals find it. */
  #contact: Contact | undefined;
  #isStopped = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Ends first of all what an earlier process left behind, where nobody else can have it. */
  async start(): Promise<void> {
    await this.#renew();
    await this.#sweep(this.#options.isAlone);
    this.#planRenewal();
    this.#planSweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#renewTimer);
    clearTimeout(this.#sweepTimer);
    await this.#work;
  }

  #planRenewal(): void {
    if (this.#isStopped) return;
    const renew = () =>
      this.#do(
        'renewed',
        () => this.#renew(),
        () => this.#planRenewal(),
      );
    this.#renewTimer = setTimeout(renew, this.#options.renewMs);
  }

  #planSweep(): void {
    if (this.#isStopped) return;
    // Not all replicas at once.
    const delayMs = this.#options.sweepMs * (0.75 + Math.random() / 2);
    const sweep = () =>
      this.#do(
        'looked after',
        () => this.#sweep(false),
        () => this.#planSweep(),
      );
    this.#sweepTimer = setTimeout(sweep, delayMs);
  }

  #do(what: string, work: () => Promise<void>, next: () => void): void {
    const { log } = this.#options;
    this.#work = work()
      .catch((error: unknown) =>
        log.warn({ err: error }, `turns could not be ${what}; trying again`),
      )
      .finally(next);
  }

  async #renew(): Promise<void> {
    const { sql, replica, running, onStopping, onLost } = this.#options;
    const before = running();
    const renewal = await renewLeases(sql, replica, before);
    this.#contact = extended(this.#contact, renewal.at);
    const held = new Map(renewal.held.map(({ id, isStopping }) => [id, isStopping]));
    for (const id of before) {
      if (!held.has(id)) onLost(id);
      else if (held.get(id)) onStopping(id);
    }
  }

  async #sweep(isAlone: boolean): Promise<void> {
    const { sql, replica, log, running, onOrphan, patienceMs } = this.#options;
    const contact = this.#contact;
    if (!contact) return;
    for (const stored of await adoptTurns(sql, replica, {
      isAlone,
      contact,
      patienceMs,
      breakMs,
    })) {
      // Its lease was late because this process was.
      if (running().includes(stored.turn.id)) continue;
      await onOrphan(stored).catch((error: unknown) => {
        log.warn({ err: error }, 'a turn that nobody runs could not be ended; trying again');
      });
    }
  }
}

/** What the living could not renew in a break, they need time for behind it. */
function extended(contact: Contact | undefined, at: Date): Contact {
  const isUnbroken = contact && at.getTime() - contact.last.getTime() <= breakMs;
  return { since: isUnbroken ? contact.since : at, last: at };
}
