import type { Database } from '../../kit/database/database.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { ConnectionNotes, Directory } from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import type { Links } from '../links/link.ts';
import type { Outcome } from '../traffic/traffic.ts';
import { HealthChecker, type CheckerOptions } from './checker.ts';
import { Lease } from '../leases/lease.ts';
import { HealthLedger } from './ledger.ts';
import { OnDemandChecks } from './on-demand.ts';
import { HealthScheduler } from './scheduler.ts';
import { HealthSignals } from './signals.ts';

export interface HealthOptions {
  readonly database: Pick<Database, 'query' | 'dialect'>;
  readonly directory: Directory;
  readonly notes: ConnectionNotes;
  readonly links: Links;
  readonly events: EventSink;
  readonly log: Log;
  /** Scheduled checks at the same time. */
  readonly concurrency: number;
  readonly learn: CheckerOptions['learn'];
  readonly onChecked?: CheckerOptions['onChecked'];
}

/** PGlite is open to one process: the row that it left behind when it died is its own. */
const onlyHolder = 'only';

/** Everything that finds out how connections do; disposing it ends all checks and writes the rest. */
export class RegistryHealth implements AsyncDisposable {
  readonly onDemand: OnDemandChecks;
  readonly #lifetime: Lifetime;
  readonly #lease: Lease;
  readonly #scheduler: HealthScheduler;
  readonly #signals: HealthSignals;

  constructor(options: HealthOptions) {
    const { database, directory, notes, links, events, log, concurrency } = options;
    const now = Date.now;
    const lifetime = new Lifetime(log);
    const ledger = lifetime.own(
      'the health of connections',
      new HealthLedger({ directory, notes, log, now }),
    );
    const { learn, onChecked } = options;
    const checker = new HealthChecker({
      links,
      directory,
      ledger,
      events,
      log,
      now,
      learn,
      onChecked,
    });
    const holder = database.dialect === 'pglite' ? onlyHolder : newId('hld');
    const lease = new Lease({ sql: database, name: 'health-checks', holder, log });
    this.#lease = lifetime.own('the lease of the health checks', lease);
    this.#scheduler = lifetime.own(
      'the health checks',
      new HealthScheduler({ directory, checker, ledger, lease, concurrency, log, now }),
    );
    lifetime.defer('the checks that run', () => checker[Symbol.dispose]());
    this.onDemand = new OnDemandChecks({ directory, checker, ledger });
    this.#signals = new HealthSignals({ directory, ledger, scheduler: this.#scheduler, now });
    lifetime.defer('the news of broken links', this.#signals.follow(links));
    this.#lifetime = lifetime;
  }

  /** Resolves when it is known whether this replica checks; the checks then run by themselves. */
  async start(): Promise<void> {
    this.#scheduler.start();
    await this.#lease.start();
  }

  /** True while the scheduled checks run here. */
  get isChecking(): boolean {
    return this.#lease.fence !== undefined;
  }

  /** Brings a check forward to now, where the scheduled checks run here; elsewhere a change does that. */
  checkSoon(connectionId: string): void {
    this.#scheduler.checkSoon(connectionId);
  }

  /** Told how each call ended: `error` is a failure of the server. Neither waits nor throws. */
  notePassive(connectionId: string, outcome: Outcome): void {
    this.#signals.notePassive(connectionId, outcome);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime[Symbol.asyncDispose]();
  }
}
