import { recentEntries } from './recent-entries.ts';

export interface Rate {
  /** Sustained requests per minute: the refill. */
  readonly perMinute: number;
  /** Requests at once after a pause: the bucket's size. */
  readonly burst: number;
}

export interface Allowance {
  readonly isAllowed: boolean;
  /** The sustained figure, as `X-RateLimit-Limit` shows it. */
  readonly limit: number;
  /** Whole requests left of the sustained figure; the burst beyond it is a reserve that 0 may still have. */
  readonly remaining: number;
  /** Unix seconds at which the bucket is full again. */
  readonly resetAt: number;
  /** Whole seconds until one request fits, at least 1; 0 when this one was allowed. */
  readonly retryAfter: number;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was right, Unix milliseconds. */
  at: number;
}

const keysMax = 100_000;

/**
 * Token buckets by key, in memory. At most 100,000 keys are kept; the one used least recently goes
 * first, which forgives it nothing that a full bucket would not.
 */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #tokensPerMs: number;
  readonly #reserve: number;
  readonly #buckets = recentEntries<Bucket>(keysMax);

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokensPerMs = rate.perMinute / 60_000;
    this.#reserve = Math.max(0, rate.burst - rate.perMinute);
  }

  /** Takes one token of the key's bucket, if there is one. */
  take(key: string, now = Date.now()): Allowance {
    const bucket = this.#refill(key, now);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    const missing = this.#rate.burst - bucket.tokens;
    const left = Math.floor(bucket.tokens - this.#reserve);
    const waitMs = isAllowed ? 0 : (1 - bucket.tokens) / this.#tokensPerMs;
    return {
      isAllowed,
      limit: this.#rate.perMinute,
      remaining: Math.max(0, left),
      resetAt: Math.ceil((now + missing / this.#tokensPerMs) / 1000),
      retryAfter: isAllowed ? 0 : Math.max(1, Math.ceil(waitMs / 1000)),
    };
  }

  /** Whether `take` would succeed, without taking. */
  hasTokens(key: string, now = Date.now()): boolean {
    return this.#refill(key, now).tokens >= 1;
  }

  /** Milliseconds until `take` would succeed; 0: now. */
  waitMs(key: string, now = Date.now()): number {
    const { tokens } = this.#refill(key, now);
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / this.#tokensPerMs);
  }

  #refill(key: string, now: number): Bucket {
    const bucket = this.#buckets.get(key);
    if (!bucket) {
      const full = { tokens: this.#rate.burst, at: now };
      this.#buckets.set(key, full);
      return full;
    }
    const gained = Math.max(0, now - bucket.at) * this.#tokensPerMs;
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }
}
