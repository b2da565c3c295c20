import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { Fault, type Code } from '../../kit/errors.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import { sharedAbort } from '../../kit/shared-abort.ts';
import type { Guest } from '../../kit/sockets/guests.ts';
import type { Admission } from '../../kit/sockets/socket-gate.ts';
import type { Asker } from './context.ts';

export interface PeerOptions {
  readonly request: IncomingMessage;
  /** Gives back the place of somebody who has yet to say who they are. */
  readonly leaveStrangers: () => void;
}

const queuedBytesMax = 4 * 1024 * 1024;
const farewellMs = 2_000;
const reasonLengthMax = 120;
/** What a revoked token closes the suite's own sockets with. */
const policyViolation = 1008;

/** Codes of the protocol, and for private use (RFC 6455, section 7.4.2), after the statuses of HTTP. */
const closeCodes: Partial<Record<Code, number>> = {
  invalid: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  exhausted: 4429,
  unavailable: 1013,
};

/** Who is at the other end of a socket. */
export class SocketPeer implements Guest {
  readonly request: IncomingMessage;
  readonly #socket: WebSocket;
  readonly #gone = sharedAbort();
  #leave: () => void;
  #asker: Asker | undefined;
  #isAlive = true;

  constructor(socket: WebSocket, { request, leaveStrangers }: PeerOptions) {
    this.request = request;
    this.#socket = socket;
    this.#leave = leaveStrangers;
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('message', () => {
      this.#isAlive = true;
    });
  }

  get isGone(): boolean {
    return this.#gone.signal.aborted;
  }

  get isKnown(): boolean {
    return this.#asker !== undefined;
  }

  /** The peer has said who it is; `leave` gives back its place. */
  admit({ identity, credential }: Admission, leave: () => void): void {
    this.#leave();
    this.#leave = leave;
    const { signal } = this.#gone;
    const traceparent = this.request.headers['traceparent'];
    this.#asker = {
      caller: { identity, credential },
      signal,
      ...(typeof traceparent === 'string' && { traceparent }),
    };
  }

  /** Throws `unauthenticated` while it has not. */
  requireAsker(): Asker {
    if (this.#asker) return this.#asker;
    throw invalidToken('a token is needed in connectionParams', 'token_missing');
  }

  /** Throws `exhausted` when the peer asks for more than it reads. */
  requireReader(): void {
    if (this.#socket.bufferedAmount <= queuedBytesMax) return;
    throw new Fault('exhausted', 'read the answers before you ask for more', {
      reason: 'slow_reader',
    });
  }

  /** Resolves when the system has taken the message; what nobody is there for goes nowhere. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text, () => resolve());
      else resolve();
    });
  }

  /** Ends a peer that has not answered since the last probe, else asks it again. */
  probe(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }

  refuse(fault: Fault): void {
    this.close(closeCodes[fault.code] ?? 4500, fault.message);
  }

  /** Closes, and drops a peer that does not answer that. */
  close(code: number, reason: string): void {
    const known = code === policyViolation ? closeCodes.unauthenticated : code;
    this.#socket.close(known, reason.slice(0, reasonLengthMax));
    this.#gone.abort();
    setTimeout(() => this.#socket.terminate(), farewellMs).unref();
  }

  /** To be called when the socket has closed. */
  end(): void {
    this.#gone.abort();
    this.#leave();
  }
}
