import ipaddr from 'ipaddr.js';
import { Fault } from '../../kit/errors.ts';
import { RateLimiter, type Allowance } from '../../kit/rate-limit.ts';

export interface AttemptRate {
  readonly attempts: number;
  readonly windowSeconds: number;
}

const ipv6PrefixGroups = 4;

/** So many attempts in a window, by key: a token bucket as large as the window's attempts. */
export class AttemptLimit {
  readonly #rate: AttemptRate;
  readonly #limiter: RateLimiter;

  constructor(rate: AttemptRate) {
    this.#rate = rate;
    const perMinute = (rate.attempts * 60) / rate.windowSeconds;
    this.#limiter = new RateLimiter({ perMinute, burst: rate.attempts });
  }

  /** Takes one attempt; `limit` of the answer counts per window. */
  take(key: string): Allowance {
    return { ...this.#limiter.take(key), limit: this.#rate.attempts };
  }

  /** The refusal of one attempt too many. */
  refusal({ retryAfter }: Allowance): Fault {
    const { attempts, windowSeconds } = this.#rate;
    return new Fault('exhausted', `too many attempts: try again in ${retryAfter} s`, {
      reason: 'rate_limit_exceeded',
      detail: { limit: attempts, windowSeconds, retryAfter },
      retryAfter,
    });
  }
}

/** What counts as one address: an IPv4 address, or the /64 that an IPv6 subscriber has for himself. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  // `process` answers one of the two classes; the kind has just told which.
  const { parts } = address as ipaddr.IPv6;
  return parts
    .slice(0, ipv6PrefixGroups)
    .map((part) => part.toString(16))
    .join(':');
}
