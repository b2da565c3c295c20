import type { Log } from '../../kit/log.ts';
import { claimLease, releaseLease, type LeaseSql } from './lease-store.ts';

export interface LeaseOptions {
  readonly sql: LeaseSql;
  readonly name: string;
  /** Who claims it; another one for each replica. */
  readonly holder: string;
  readonly log: Log;
  /** 30,000 unless told. */
  readonly lastsMs?: number;
  /** 10,000 unless told. */
  readonly renewEveryMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

const lastsMsDefault = 30_000;
const renewEveryMsDefault = 10_000;
/** So much earlier than the database this replica takes its lease for ended. */
const marginMs = 1_000;

/**
 * Makes one replica out of several the one that does something. Its holder knows by its own clock when
 * the lease ends, so that a replica which cannot reach the database stops before another one begins.
 */
export class Lease implements AsyncDisposable {
  readonly #options: LeaseOptions;
  readonly #now: () => number;
  readonly #lastsMs: number;
  readonly #listeners = new Set<(isHeld: boolean) => void>();
  #fence: number | undefined;
  #endsAtMs = 0;
  #wasHeld = false;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#lastsMs = options.lastsMs ?? lastsMsDefault;
  }

  /** The number of this holding, higher than that of each before; undefined while it is not held. */
  get fence(): number | undefined {
    return this.#now() < this.#endsAtMs ? this.#fence : undefined;
  }

  /** Called when it is taken and when it is lost. */
  onChange(listener: (isHeld: boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves after the first claim, whatever came of it. */
  async start(): Promise<void> {
    await this.renew();
    const everyMs = this.#options.renewEveryMs ?? renewEveryMsDefault;
    this.#timer = setInterval(() => void this.renew(), everyMs).unref();
  }

  /** Claims it or claims it anew; never rejects. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Gives it back, so that another replica need not wait for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#renewing;
    const { sql, log } = this.#options;
    if (this.fence === undefined) return;
    this.#endsAtMs = 0;
    this.#tell();
    await releaseLease(sql, this.#options).catch((err: unknown) =>
      log.warn({ err }, 'a lease could not be given back'),
    );
  }

  async #renew(): Promise<void> {
    const { sql, name, holder, log } = this.#options;
    // From before the question: the database counts from its answer.
    const askedAtMs = this.#now();
    try {
      const fence = await claimLease(sql, { name, holder, lastsMs: this.#lastsMs });
      if (fence === undefined) this.#endsAtMs = 0;
      else if (!this.#isStopped) this.#endsAtMs = askedAtMs + this.#lastsMs - marginMs;
      this.#fence = fence;
    } catch (err) {
      log.warn({ err, lease: name }, 'a lease could not be claimed');
    }
    this.#tell();
  }

  #tell(): void {
    const isHeld = this.fence !== undefined;
    if (isHeld === this.#wasHeld) return;
    this.#wasHeld = isHeld;
    for (const listener of this.#listeners) listener(isHeld);
  }
}
