import type { Log } from '../../kit/log.ts';
import type { Connection, ConnectionChange, Directory } from '../connections/connection.ts';
import type { HealthChecker } from './checker.ts';
import type { HealthLedger } from './ledger.ts';
import { DueHeap } from './due-heap.ts';
import { isChangedForCheck, nextCheckMs, phaseOf } from './due.ts';
import type { Lease } from '../leases/lease.ts';

export interface SchedulerOptions {
  readonly directory: Pick<Directory, 'all' | 'find' | 'onChange'>;
  readonly checker: Pick<HealthChecker, 'check'>;
  readonly ledger: Pick<HealthLedger, 'standing'>;
  /** Only who holds it checks. */
  readonly lease: Pick<Lease, 'fence' | 'onChange'>;
  /** Checks at the same time. */
  readonly concurrency: number;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back after so many milliseconds, unless the answer is called before; `setTimeout` unless told. */
  readonly wait?: (waitMs: number, callback: () => void) => () => void;
}

/** Checks that were due while nobody checked are spread over so long a time, at most their interval. */
const spreadMsMax = 30_000;
const waitMsMax = 2 ** 31 - 1;

/**
 * Has every connection checked when it is due, on the one replica that holds the lease. One timer
 * stands for all of them; while none is due nothing runs.
 */
export class HealthScheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions;
  readonly #due = new DueHeap();
  /** What is checked now; `isAsked`: it is to be checked again at once. */
  readonly #running = new Map<string, { isAsked: boolean; readonly done: Promise<void> }>();
  #isActive = false;
  #isStopped = false;
  #armedMs = Number.POSITIVE_INFINITY;
  /** By the clock. */
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  #disarm: () => void = () => {};
  #unfollow: () => void = () => {};

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Begins when the lease is there. */
  start(): void {
    const { directory, lease } = this.#options;
    this.#unfollow = directory.onChange((change) => this.#follow(change));
    lease.onChange((isHeld) => (isHeld ? this.#takeUp() : this.#letGo()));
    if (lease.fence !== undefined) this.#takeUp();
  }

  /** Brings a check forward to now; a check that runs is followed by another one. */
  checkSoon(connectionId: string): void {
    if (!this.#isActive) return;
    const running = this.#running.get(connectionId);
    if (running) running.isAsked = true;
    else this.#place(connectionId, 0);
  }

  /** How many checks wait for their time or run. */
  get size(): number {
    return this.#due.size + this.#running.size;
  }

  /** Starts what is due. */
  tick(): void {
    this.#disarm();
    this.#armedMs = Number.POSITIVE_INFINITY;
    const { concurrency, now, lease } = this.#options;
    if (!this.#isActive || lease.fence === undefined) return;
    const nowMs = now();
    // What waits for a time that the clock showed before it was set back would wait long.
    if (nowMs < this.#tickedAtMs) this.#placeAll(nowMs);
    this.#tickedAtMs = nowMs;
    while (this.#running.size < concurrency) {
      const id = this.#due.take(nowMs);
      if (id === undefined) break;
      this.#begin(id);
    }
    this.#arm();
  }

  /** Resolves when no check runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#unfollow();
    this.#letGo();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  #takeUp(): void {
    if (this.#isStopped || this.#isActive) return;
    this.#isActive = true;
    this.#placeAll(this.#options.now());
    this.#arm();
  }

  #placeAll(nowMs: number): void {
    for (const connection of this.#options.directory.all()) {
      const dueMs = this.#nextMs(connection);
      if (dueMs === undefined || this.#running.has(connection.id)) continue;
      const isLate = dueMs > 0 && dueMs < nowMs;
      this.#due.set(connection.id, isLate ? nowMs + spreadMs(connection) : dueMs);
    }
  }

  #letGo(): void {
    this.#isActive = false;
    this.#due.clear();
    this.#disarm();
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  #follow(change: ConnectionChange): void {
    if (!this.#isActive) return;
    const { after } = change;
    const running = this.#running.get(after.id);
    if (running) {
      running.isAsked ||= change.before !== undefined && isChangedForCheck(change);
      return;
    }
    const dueMs = this.#nextMs(after);
    if (dueMs === undefined) this.#due.delete(after.id);
    else this.#place(after.id, isChangedForCheck(change) ? 0 : dueMs);
  }

  #place(id: string, dueMs: number): void {
    this.#due.set(id, dueMs);
    this.#arm();
  }

  /** One timer for the first of all; none while as many run as may. */
  #arm(): void {
    const firstMs = this.#due.firstMs;
    const { concurrency, now, wait = waitUnref } = this.#options;
    if (!this.#isActive || this.#running.size >= concurrency) return;
    if (firstMs >= this.#armedMs || firstMs === Number.POSITIVE_INFINITY) return;
    this.#disarm();
    this.#armedMs = firstMs;
    const waitMs = Math.min(Math.max(firstMs - now(), 0), waitMsMax);
    this.#disarm = wait(waitMs, () => this.tick());
  }

  #begin(id: string): void {
    const connection = this.#options.directory.find(id);
    if (!connection) return;
    const done = this.#run(connection).finally(() => {
      const isAsked = this.#running.get(id)?.isAsked ?? false;
      this.#running.delete(id);
      this.#placeAgain(id, isAsked);
      this.tick();
    });
    this.#running.set(id, { isAsked: false, done });
  }

  async #run(connection: Connection): Promise<void> {
    const { checker, lease, log } = this.#options;
    const { fence } = lease;
    try {
      await checker.check(connection, { isValid: () => lease.fence === fence });
    } catch (error) {
      if (this.#isStopped) return;
      log.error({ err: error, connectionId: connection.id }, 'a health check could not be made');
    }
  }

  #placeAgain(id: string, isAsked: boolean): void {
    const { directory, now } = this.#options;
    const connection = directory.find(id);
    if (!this.#isActive || !connection) return;
    const dueMs = this.#nextMs(connection);
    if (dueMs === undefined) return;
    // What could not be checked at all is not tried again without end.
    const isStuck = dueMs === 0;
    const laterMs = isStuck ? now() + connection.healthCheck.interval * 1000 : dueMs;
    this.#due.set(id, isAsked ? 0 : laterMs);
  }

  /** From what was found last, whether it is written yet or not. */
  #nextMs(connection: Connection): number | undefined {
    const { health } = this.#options.ledger.standing(connection);
    return nextCheckMs({ ...connection, health }, this.#options.now());
  }
}

function spreadMs({ id, healthCheck }: Connection): number {
  return phaseOf(id) * Math.min(healthCheck.interval * 1000, spreadMsMax);
}

function waitUnref(waitMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, waitMs).unref();
  return () => clearTimeout(timer);
}
