import type { IncomingMessage } from 'node:http';
import type { Contract, SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import { readCredential } from '../http/credential.ts';
import { rateLimitFault } from '../http/gate.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Identity } from '../identity/identity.ts';
import { requirePermission } from '../permissions.ts';
import type { RateLimiter } from '../rate-limit.ts';

export interface SocketGateOptions {
  readonly contract: Contract;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly perIdentityMax: number;
}

export interface Admission {
  readonly identity: Identity;
  /** What the identity rests on, to be asked again while the socket is open. */
  readonly credential: string;
}

/** Lets a handshake in: who calls, may they, have they calls and sockets left. */
export class SocketGate {
  readonly #options: SocketGateOptions;
  readonly #countBySubject = new Map<string, number>();

  constructor(options: SocketGateOptions) {
    this.#options = options;
  }

  /** Rejects with the Fault to refuse with. A handshake counts as one call in the rate limit. */
  async admit(route: SocketRoute, request: IncomingMessage): Promise<Admission> {
    const admission = await this.#identify(request);
    this.#limit(admission.identity.subject);
    if (route.permission) requirePermission(admission.identity.permissions, route.permission);
    return admission;
  }

  /** Throws `exhausted` when the identity has as many sockets open as it may. */
  requirePlace({ subject }: Identity): void {
    const { perIdentityMax } = this.#options;
    if ((this.#countBySubject.get(subject) ?? 0) < perIdentityMax) return;
    throw new Fault('exhausted', `at most ${perIdentityMax} sockets may be open at once`, {
      reason: 'too_many_sockets',
      detail: { limit: perIdentityMax },
    });
  }

  occupyPlace({ subject }: Identity): void {
    this.#countBySubject.set(subject, (this.#countBySubject.get(subject) ?? 0) + 1);
  }

  releasePlace({ subject }: Identity): void {
    const count = (this.#countBySubject.get(subject) ?? 0) - 1;
    if (count > 0) this.#countBySubject.set(subject, count);
    else this.#countBySubject.delete(subject);
  }

  /** False once the credential was revoked or has expired; true while that cannot be told. */
  async isStillGood(credential: string): Promise<boolean> {
    try {
      await this.#options.authenticator.identify(credential);
      return true;
    } catch (error) {
      return !(error instanceof Fault && error.code === 'unauthenticated');
    }
  }

  async #identify(request: IncomingMessage): Promise<Admission> {
    const { contract, authenticator } = this.#options;
    try {
      const credential = readCredential(request, {
        acceptsSessionCookie: contract.acceptsSessionCookie ?? false,
        acceptsQueryToken: true,
      });
      return { credential, identity: await authenticator.identify(credential) };
    } catch (error) {
      this.#limit(request.socket.remoteAddress ?? '');
      throw error;
    }
  }

  #limit(key: string): void {
    const { isAllowed, limit, retryAfter } = this.#options.limiter.take(key);
    if (!isAllowed) throw rateLimitFault(limit, retryAfter);
  }
}
