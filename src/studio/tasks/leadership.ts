import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { lead, stopLeading } from './dispatch-store.ts';
import type { TaskSql } from './task-store.ts';

export interface LeadershipOptions {
  readonly sql: TaskSql;
  readonly log: Log;
  /** How long a replica that says nothing is still the dispatcher. */
  readonly leaseMs: number;
  /** This replica is the dispatcher from now on, under an epoch; the answer ends that. */
  readonly onLead: (epoch: number) => Promise<AsyncDisposable>;
  /** How many tasks are open as the dispatcher looks. */
  readonly onBeat: (openCount: number) => void;
}

interface Term {
  readonly epoch: number;
  readonly work: AsyncDisposable;
}

/** Makes this replica the dispatcher whenever no other one is. */
export class Leadership implements AsyncDisposable {
  readonly #options: LeadershipOptions;
  readonly #replica = newId('rep');
  #term: Term | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** Where nobody else can have the database open, it leads at once. */
  async start(): Promise<void> {
    await this.#beat(this.#options.sql.dialect === 'pglite');
    this.#plan();
  }

  /** Another replica may lead at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
    const { sql, log } = this.#options;
    if (!this.#term) return;
    await this.#end();
    await stopLeading(sql, this.#replica).catch((err: unknown) => {
      log.warn({ err }, 'others give tasks to agents only once the lease of this replica is over');
    });
  }

  #plan(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#beating = this.#beat(false)
        .catch((err: unknown) => {
          this.#options.log.warn({ err }, 'the lease of the dispatcher was not renewed');
        })
        .finally(() => this.#plan());
    }, this.#options.leaseMs / 3);
  }

  async #beat(isAlone: boolean): Promise<void> {
    const { sql, leaseMs, onLead, onBeat } = this.#options;
    const held = await lead(sql, this.#replica, { leaseMs, isAlone });
    if (this.#term && this.#term.epoch !== held?.epoch) await this.#end();
    if (!held || this.#isStopped) return;
    if (this.#term) onBeat(held.openCount);
    else this.#term = { epoch: held.epoch, work: await onLead(held.epoch) };
  }

  async #end(): Promise<void> {
    const term = this.#term;
    this.#term = undefined;
    await term?.work[Symbol.asyncDispose]();
  }
}
