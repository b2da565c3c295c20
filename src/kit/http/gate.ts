import type { Contract, Route } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Identity } from '../identity/identity.ts';
import { peerPermission, requirePermission } from '../permissions.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { peekBearer, readCredential } from './credential.ts';
import type { EdgeReply } from './exchange.ts';
import { noteIdentity } from './server-span.ts';

export interface GateOptions {
  readonly contract: Contract;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
}

/**
 * Lets a request in: who calls, may they, have they calls left. Whoever fails to say who they are
 * spends the calls of their address; once these are used up, no credential from there is looked at
 * that is not known already.
 */
export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** The caller's identity, or none on a public route; at once when the token is known. */
  admit(route: Route, reply: EdgeReply): Identity | undefined | Promise<Identity> {
    if (isPublic(route, reply)) {
      this.#limit(route, reply, reply.request.ip);
      return undefined;
    }
    const identity = this.#identify(route, reply);
    if (!(identity instanceof Promise)) return this.#permit(route, reply, identity);
    return identity.then(
      (known) => this.#permit(route, reply, known),
      (error: unknown) => this.#refuse(route, reply, error),
    );
  }

  #identify(route: Route, reply: EdgeReply): Identity | Promise<Identity> {
    const { contract, authenticator } = this.#options;
    try {
      const shown = peekBearer(reply.request);
      const known = shown === undefined ? undefined : authenticator.recall(shown);
      if (known) return known;
      const credential = readCredential(reply.request.raw, {
        acceptsSessionCookie: contract.acceptsSessionCookie ?? false,
        acceptsQueryToken: false,
      });
      if (!authenticator.isKnown(credential)) this.#requireTries(route, reply);
      return authenticator.identify(credential);
    } catch (error) {
      return this.#refuse(route, reply, error);
    }
  }

  #permit(route: Route, reply: EdgeReply, identity: Identity): Identity {
    noteIdentity(reply.request.context, identity);
    const isPeer = identity.permissions.includes(peerPermission);
    if (!isPeer) this.#limit(route, reply, payerOf(identity));
    if (route.permission) requirePermission(identity.permissions, route.permission);
    return identity;
  }

  #refuse(route: Route, reply: EdgeReply, error: unknown): never {
    this.#limit(route, reply, reply.request.ip);
    throw error;
  }

  /** Checks no credential of an address that has used up its calls by failing. */
  #requireTries(route: Route, reply: EdgeReply): void {
    if (route.rateLimit === 'none') return;
    const { limiter } = this.#options;
    if (!limiter.hasTokens(reply.request.ip)) this.#limit(route, reply, reply.request.ip);
  }

  #limit(route: Route, reply: EdgeReply, key: string): void {
    if (route.rateLimit === 'none') return;
    const allowance = this.#options.limiter.take(key);
    reply.header('x-ratelimit-limit', allowance.limit);
    reply.header('x-ratelimit-remaining', allowance.remaining);
    reply.header('x-ratelimit-reset', allowance.resetAt);
    if (!allowance.isAllowed) throw rateLimitFault(allowance.limit, allowance.retryAfter);
  }
}

/**
 * Whose calls a caller spends: users count as one however often they log in, services by the API key
 * that they use.
 */
export function payerOf({
  kind,
  subject,
  sessionId,
}: Pick<Identity, 'kind' | 'subject' | 'sessionId'>): string {
  return kind === 'service' ? sessionId : subject;
}

const loopbackAddress = /^(127\.|::1$|::ffff:127\.)/;

/** Nobody has to say who they are; a token that is shown all the same is not looked at. */
function isPublic({ auth }: Route, { request }: EdgeReply): boolean {
  if (auth === 'none') return true;
  return auth === 'loopback' && loopbackAddress.test(request.ip);
}

/** The refusal of a caller who has no calls left. */
export function rateLimitFault(limit: number, retryAfter: number): Fault {
  return new Fault('exhausted', `rate limit exceeded: try again in ${retryAfter} s`, {
    reason: 'rate_limit_exceeded',
    detail: { limit, window: '1m', retry_after: retryAfter },
    retryAfter,
  });
}
