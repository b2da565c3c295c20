import { recentEntries } from '../../kit/recent-entries.ts';
import type { Log } from '../../kit/log.ts';
import { RateLimiter, type Allowance } from '../../kit/rate-limit.ts';
import { AttemptLimit, refusalOf, type AttemptRate } from './attempt-limits.ts';
import type { AllowanceAsk } from './allowance-store.ts';
import type { Allowances } from './allowances.ts';
import { within } from '../../kit/time/time-limits.ts';

/** Attempts of one key that this replica has taken ahead, or a refusal that still stands. */
interface Lease {
  left: number;
  used: number;
  /** Attempts that come next, as the last answer of the database had it. */
  remaining: number;
  resetAt: number;
  /** On the monotonic clock, like `refusedUntilMs`. */
  endsAtMs: number;
  refusedUntilMs: number;
  /** How many wait for the answer that is under way. */
  waiting: number;
  renewal: Promise<void> | undefined;
}

export interface LeasedLimitOptions {
  readonly name: string;
  readonly rate: AttemptRate;
  readonly allowances: Allowances;
  readonly log: Log;
}

const keysMax = 100_000;
const leaseMs = 1000;
/** How long an attempt waits for a database that hangs. */
const patienceMs = 1000;
const sweepMs = 500;

/**
 * A shared limit for what happens often: a replica takes several attempts of a key at once and
 * spends them from memory, so that all replicas together never allow more than the limit. A lease
 * grows with what was used of the one before, up to a quarter of what is left; after a second the
 * rest goes back. While the database does not answer, each replica keeps the limit by itself, and only
 * the first attempt waits to see it.
 */
export class LeasedLimit implements AsyncDisposable {
  readonly #rate: AttemptRate;
  readonly #limit: AttemptLimit;
  readonly #options: LeasedLimitOptions;
  readonly #leases = recentEntries<Lease>(keysMax);
  readonly #alone: RateLimiter;
  readonly #sweep: NodeJS.Timeout;
  #isAlone = false;

  constructor(options: LeasedLimitOptions) {
    const { name, rate, allowances } = options;
    this.#options = options;
    this.#rate = rate;
    this.#limit = new AttemptLimit(name, rate, allowances);
    const perMinute = (rate.attempts * 60) / rate.windowSeconds;
    this.#alone = new RateLimiter({ perMinute, burst: rate.attempts });
    this.#sweep = setInterval(() => void this.#giveBack(performance.now()), sweepMs).unref();
  }

  /** Takes one attempt: at once from a lease, else after one statement. */
  take(key: string): Allowance | Promise<Allowance> {
    return this.#takeFrom(this.#leases.get(key)) ?? this.#takeLater(key);
  }

  /** The refusal of one attempt too many. */
  refusal({ retryAfter }: Allowance): Error {
    return refusalOf(this.#rate, retryAfter);
  }

  /** Gives back what was not used. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await this.#giveBack(Number.POSITIVE_INFINITY);
  }

  #takeFrom(lease: Lease | undefined): Allowance | undefined {
    if (!lease) return undefined;
    const nowMs = performance.now();
    if (lease.refusedUntilMs > nowMs) return this.#refused(lease, nowMs);
    if (lease.left <= 0 || lease.endsAtMs <= nowMs) return undefined;
    lease.left -= 1;
    lease.used += 1;
    return this.#allowed(lease);
  }

  async #takeLater(key: string): Promise<Allowance> {
    try {
      for (;;) {
        const renewal = this.#renew(key);
        if (this.#isAlone) {
          // When it succeeds, the limit is everybody's again.
          renewal.catch(() => {});
          return this.#takeAlone(key);
        }
        await within(renewal, patienceMs);
        const allowance = this.#takeFrom(this.#leases.get(key));
        if (allowance) return allowance;
      }
    } catch (error) {
      const { log, name } = this.#options;
      if (!this.#isAlone) log.warn({ err: error, limit: name }, 'a limit is kept by itself');
      this.#isAlone = true;
      return this.#takeAlone(key);
    }
  }

  #takeAlone(key: string): Allowance {
    return { ...this.#alone.take(key), limit: this.#rate.attempts };
  }

  /** Joins the renewal that is under way, or starts one. */
  #renew(key: string): Promise<void> {
    const lease = this.#leases.get(key) ?? newLease();
    this.#leases.set(key, lease);
    lease.waiting += 1;
    lease.renewal ??= this.#ask(key, lease).finally(() => {
      lease.renewal = undefined;
      lease.waiting = 0;
    });
    return lease.renewal;
  }

  async #ask(key: string, lease: Lease): Promise<void> {
    const { allowances } = this.#options;
    const [grant] = await allowances.take(() => [this.#askFor(key, lease)]);
    const allowance = this.#limit.allowanceOf(grant);
    this.#isAlone = false;
    const nowMs = performance.now();
    lease.left = grant?.granted ?? 0;
    lease.used = 0;
    lease.remaining = allowance.remaining;
    lease.resetAt = allowance.resetAt;
    lease.endsAtMs = nowMs + leaseMs;
    if (!allowance.isAllowed) lease.refusedUntilMs = nowMs + (grant?.waitSeconds ?? 0) * 1000;
  }

  #askFor(key: string, lease: Lease): AllowanceAsk {
    const { left, used, waiting } = lease;
    lease.left = 0;
    lease.waiting = 0;
    return { ...this.#limit.askFor(key), backs: left, needs: waiting, wants: 2 * used };
  }

  async #giveBack(nowMs: number): Promise<void> {
    const ended = [...this.#leases].filter(
      ([, { left, endsAtMs, renewal }]) => left > 0 && endsAtMs <= nowMs && !renewal,
    );
    const asks = ended.map(([key, lease]) => {
      const backs = lease.left;
      lease.left = 0;
      // After a pause the next lease begins smaller, but not all over again.
      lease.used = Math.floor(lease.used / 2);
      return { ...this.#limit.askFor(key), backs, needs: 0 };
    });
    if (asks.length === 0) return;
    // What is lost grows back by itself.
    await this.#options.allowances.take(() => asks).catch(() => {});
  }

  #allowed({ left, remaining, resetAt }: Lease): Allowance {
    const { attempts: limit } = this.#rate;
    return { isAllowed: true, limit, remaining: left + remaining, resetAt, retryAfter: 0 };
  }

  #refused({ resetAt, refusedUntilMs }: Lease, nowMs: number): Allowance {
    const { attempts: limit } = this.#rate;
    const retryAfter = Math.max(1, Math.ceil((refusedUntilMs - nowMs) / 1000));
    return { isAllowed: false, limit, remaining: 0, resetAt, retryAfter };
  }
}

function newLease(): Lease {
  return {
    left: 0,
    used: 0,
    remaining: 0,
    resetAt: 0,
    endsAtMs: 0,
    refusedUntilMs: 0,
    waiting: 0,
    renewal: undefined,
  };
}
