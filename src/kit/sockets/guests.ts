import type { IncomingMessage } from 'node:http';
import type { SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Identity } from '../identity/identity.ts';
import { Places } from './places.ts';
import type { Admission, SocketGate } from './socket-gate.ts';

/** An open connection whose owner is known: a WebSocket of the suite, or of a protocol on a reserved path. */
export interface Guest {
  /** Closes it, with a code of RFC 6455, section 7.4.1, where the protocol has words for it. */
  close(code: number, reason: string): void;
}

export interface GuestsOptions {
  readonly gate: SocketGate;
  /** Connections that one identity may have open. */
  readonly perIdentityMax: number;
  /** Connections of one address whose peers have not yet said who they are. */
  readonly strangersMax: number;
}

const recheckMs = 500;

/**
 * Who is connected. Closes with 1008, within a second, whose token is revoked or expires, and with
 * 1001 all that are there when the server stops.
 */
export class Guests {
  readonly #gate: SocketGate;
  readonly #places: Places;
  readonly #strangers: Places;
  readonly #admissions = new Map<Guest, Admission>();
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor({ gate, perIdentityMax, strangersMax }: GuestsOptions) {
    this.#gate = gate;
    this.#places = new Places(perIdentityMax);
    this.#strangers = new Places(strangersMax);
  }

  /**
   * Who makes a handshake: by the token that the protocol carries in a way of its own, else by what the
   * request shows. Counts as one call in the rate limit. Rejects with the Fault to refuse with.
   */
  admit(
    route: Pick<SocketRoute, 'permission'>,
    request: IncomingMessage,
    token?: string,
  ): Promise<Admission> {
    return this.#gate.admit(route, request, token);
  }

  /** Throws why no more may come: the identity has no place left, or the server stops. */
  requirePlace({ subject }: Identity): void {
    this.requireOpen();
    this.#places.require(subject);
  }

  /** Takes a place and answers how to give it back; throws as `requirePlace`. */
  keep(guest: Guest, admission: Admission): () => void {
    this.requirePlace(admission.identity);
    const release = this.#places.occupy(admission.identity.subject);
    this.#admissions.set(guest, admission);
    this.#timer ??= setInterval(() => this.#recheckAll(), recheckMs).unref();
    return () => {
      this.#admissions.delete(guest);
      release();
    };
  }

  /** A place for somebody who has yet to say who they are; answers how to give it back. */
  keepStranger(address: string): () => void {
    this.requireOpen();
    this.#strangers.require(address);
    return this.#strangers.occupy(address);
  }

  /** Counts what a message asks for as a call in the rate limit; throws `exhausted`. */
  takeCall(identity: Identity): void {
    this.#gate.takeCall(identity);
  }

  requireOpen(): void {
    if (!this.#isClosing) return;
    throw new Fault('unavailable', 'the service is stopping', { retryAfter: 1 });
  }

  close(): void {
    this.#isClosing = true;
    clearInterval(this.#timer);
    for (const guest of this.#admissions.keys()) guest.close(1001, 'the service is stopping');
  }

  #recheckAll(): void {
    for (const [guest, admission] of this.#admissions) void this.#recheck(guest, admission);
  }

  async #recheck(guest: Guest, { credential }: Admission): Promise<void> {
    if (await this.#gate.isStillGood(credential)) return;
    guest.close(1008, 'the token is no longer valid');
  }
}
