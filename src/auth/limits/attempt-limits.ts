import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Fault } from '../../kit/errors.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { AllowanceAsk, AllowanceGrant } from './allowance-store.ts';
import type { Allowances } from './allowances.ts';

export interface AttemptRate {
  readonly attempts: number;
  readonly windowSeconds: number;
}

const ipv6PrefixGroups = 4;

/** So many attempts in a window, by key, over all replicas and restarts: a token bucket. */
export class AttemptLimit {
  readonly rate: AttemptRate;
  readonly #name: string;
  readonly #allowances: Allowances;

  /** The name keeps the keys of one limit apart from those of others. */
  constructor(name: string, rate: AttemptRate, allowances: Allowances) {
    this.rate = rate;
    this.#name = name;
    this.#allowances = allowances;
  }

  /** Takes one attempt; `limit` of the answer counts per window. */
  async take(key: string): Promise<Allowance> {
    const [grant] = await this.#allowances.take(() => [this.askFor(key)]);
    return this.allowanceOf(grant);
  }

  /** What takes one attempt, for a group of several limits. */
  askFor(key: string, options: { readonly needs?: number } = {}): AllowanceAsk {
    const { attempts, windowSeconds } = this.rate;
    return {
      key: `${this.#name} ${key}`,
      attempts,
      spacingSeconds: windowSeconds / attempts,
      backs: 0,
      needs: options.needs ?? 1,
      wants: 0,
    };
  }

  /** A grant as callers see it; no grant is a refusal. */
  allowanceOf(grant: AllowanceGrant | undefined): Allowance {
    const { attempts, windowSeconds } = this.rate;
    const isAllowed = grant !== undefined && grant.granted > 0;
    const waitSeconds = grant?.waitSeconds ?? windowSeconds / attempts;
    return {
      isAllowed,
      limit: attempts,
      remaining: grant?.remaining ?? 0,
      resetAt: Math.ceil(Date.now() / 1000 + (grant?.fullInSeconds ?? windowSeconds)),
      retryAfter: isAllowed ? 0 : Math.max(1, Math.ceil(waitSeconds)),
    };
  }

  /** The refusal of one attempt too many. */
  refusal({ retryAfter }: Allowance): Fault {
    return refusalOf(this.rate, retryAfter);
  }
}

/** What a bucket says that is full in so many seconds after one attempt was taken. */
export function bucketAfterTake(rate: AttemptRate, fullInSeconds: number): Allowance {
  const { attempts: limit, windowSeconds } = rate;
  const resetAt = Math.ceil(Date.now() / 1000 + fullInSeconds);
  const remaining = wholeAttempts(rate, windowSeconds - fullInSeconds);
  return { isAllowed: true, limit, remaining, resetAt, retryAfter: 0 };
}

/** What a bucket says that is full in so many seconds, before an attempt. */
export function bucketBeforeTake(rate: AttemptRate, fullInSeconds: number): Allowance {
  const allowance = bucketAfterTake(rate, fullInSeconds);
  if (allowance.remaining > 0) return allowance;
  const waitSeconds = fullInSeconds + rate.windowSeconds / rate.attempts - rate.windowSeconds;
  return { ...allowance, isAllowed: false, retryAfter: Math.max(1, Math.ceil(waitSeconds)) };
}

/** How many attempts grow back in the time, but for what fractions of a second lose in rounding. */
function wholeAttempts({ attempts, windowSeconds }: AttemptRate, seconds: number): number {
  return Math.max(0, Math.floor((seconds * attempts) / windowSeconds + 1e-6));
}

/** `exhausted` as every limit answers it: 429, `rate_limit_exceeded`, with `Retry-After`. */
export function refusalOf({ attempts, windowSeconds }: AttemptRate, retryAfter: number): Fault {
  return new Fault('exhausted', `too many attempts: try again in ${retryAfter} s`, {
    reason: 'rate_limit_exceeded',
    detail: { limit: attempts, windowSeconds, retryAfter },
    retryAfter,
  });
}

/** What counts as one address: an IPv4 address, or the /64 that an IPv6 subscriber has for himself. */
export function addressKey(ip: string): string {
  // The form that sockets give; everything else is brought into it.
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  // `process` answers one of the two classes; the kind has just told which.
  const { parts } = address as ipaddr.IPv6;
  return parts
    .slice(0, ipv6PrefixGroups)
    .map((part) => part.toString(16))
    .join(':');
}
