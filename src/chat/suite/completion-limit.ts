import type { Call } from '../../kit/http/call.ts';
import { payerOf, rateLimitFault } from '../../kit/http/gate.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows, peerPermission } from '../../kit/permissions.ts';
import { RateLimiter, type Allowance, type Rate } from '../../kit/rate-limit.ts';

/** Chat's rate limit unless the environment says otherwise. */
export const chatRate: Rate = { perMinute: 500, burst: 750 };

const completionRate: Rate = { perMinute: 100, burst: 100 };

/**
 * How often a person may ask for completions, by whichever way: 100 times a minute, or what the
 * environment allows chat's requests, where it says something else than their default. The suite's own
 * services have no limit among themselves.
 */
export class CompletionLimit {
  readonly #limiter: RateLimiter;

  constructor(configured: Rate) {
    const isDefault = configured.perMinute === chatRate.perMinute;
    this.#limiter = new RateLimiter(isDefault ? completionRate : configured);
  }

  /** Counts a completion; throws `exhausted` (`rate_limit_exceeded`) when there is none left. */
  take(identity: Identity): void {
    if (!isPeer(identity)) requireAllowed(this.#limiter.take(payerOf(identity)));
  }

  /** The same for a REST call, whose headers tell what is left. */
  takeFor(call: Pick<Call, 'setHeader'> & { readonly identity: Identity }): void {
    if (isPeer(call.identity)) return;
    const allowance = this.#limiter.take(payerOf(call.identity));
    call.setHeader('x-ratelimit-limit', String(allowance.limit));
    call.setHeader('x-ratelimit-remaining', String(allowance.remaining));
    call.setHeader('x-ratelimit-reset', String(allowance.resetAt));
    requireAllowed(allowance);
  }
}

function isPeer({ permissions }: Identity): boolean {
  return allows(permissions, peerPermission);
}

function requireAllowed({ isAllowed, limit, retryAfter }: Allowance): void {
  if (!isAllowed) throw rateLimitFault(limit, retryAfter);
}
