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
}

export interface Admission {
  readonly identity: Identity;
  /** What the identity rests on, to be asked again while the socket is open. */
  readonly credential: string;
}

/** Lets a handshake in: who calls, may they, have they calls left. */
export class SocketGate {
  readonly #options: SocketGateOptions;

  constructor(options: SocketGateOptions) {
    this.#options = options;
  }

  /**
   * Rejects with the Fault to refuse with. A handshake counts as one call in the rate limit. A token
   * that came by another way than the request stands in for whatever the request shows.
   */
  async admit(
    { permission }: Pick<SocketRoute, 'permission'>,
    request: IncomingMessage,
    token?: string,
  ): Promise<Admission> {
    const admission = await this.#identify(request, token);
    this.takeCall(admission.identity);
    if (permission) requirePermission(admission.identity.permissions, permission);
    return admission;
  }

  /** Whether a handshake shows nothing at all; counts as a call of its address if so. */
  isStranger(request: IncomingMessage): boolean {
    try {
      this.#read(request);
      return false;
    } catch (error) {
      if (!(error instanceof Fault && error.detail['reason'] === 'token_missing')) return false;
      this.#limit(addressOf(request));
      return true;
    }
  }

  /** Throws `exhausted` when the identity has no calls left. */
  takeCall({ subject }: Identity): void {
    this.#limit(subject);
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

  async #identify(request: IncomingMessage, token?: string): Promise<Admission> {
    try {
      const credential = token ?? this.#read(request);
      return { credential, identity: await this.#options.authenticator.identify(credential) };
    } catch (error) {
      this.#limit(addressOf(request));
      throw error;
    }
  }

  #read(request: IncomingMessage): string {
    return readCredential(request, {
      acceptsSessionCookie: this.#options.contract.acceptsSessionCookie ?? false,
      acceptsQueryToken: true,
      checksOriginOfReads: true,
    });
  }

  #limit(key: string): void {
    const { isAllowed, limit, retryAfter } = this.#options.limiter.take(key);
    if (!isAllowed) throw rateLimitFault(limit, retryAfter);
  }
}

/** Where a handshake comes from. */
export function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}
