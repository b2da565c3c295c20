import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
import type { SocketRoute } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Origin } from '../http/call.ts';
import type { Identity } from '../identity/identity.ts';
import type { Log } from '../log.ts';
import { Inbox, type MessageHandler } from './inbox.ts';
import type { Admission } from './socket-gate.ts';
import type { PathParameters } from './socket-paths.ts';

/** An admitted handshake (RFC 6455, section 4). */
export interface SocketRequest<R extends SocketRoute = SocketRoute> {
  readonly identity: Identity;
  /** What the identity rests on, for calls on the peer's behalf. Never to be stored or logged. */
  readonly credential: string;
  /** Decoded. */
  readonly params: PathParameters<R['url']>;
  /** What stood behind `?`, without `access_token`. */
  readonly query: URLSearchParams;
  readonly origin: Origin;
  readonly requestId: string;
}

/** An open WebSocket that carries JSON in text messages. */
export interface Connection<R extends SocketRoute = SocketRoute> extends SocketRequest<R> {
  /** Aborted as soon as either side closes or the peer is lost. */
  readonly signal: AbortSignal;
  /** Queues a value. False: it was dropped, because the reader is too slow or has gone. */
  send(value: unknown): boolean;
  /** Queues a text message that was encoded before, for many; answers as `send`. */
  sendFrame(frame: Buffer): boolean;
  /** Tells the reader `{type: 'error', …}` with the fault in the service's own words. */
  sendFault(fault: Fault): boolean;
  /** Resolves when `send` takes values again after it refused one, and when the connection ends. */
  room(): Promise<void>;
  /**
   * Takes the messages, strictly one after the other; those that came before wait for it. Whatever
   * the handler throws is told to the peer.
   */
  onMessage(handler: MessageHandler): void;
  /** Closes (RFC 6455, section 7.4); messages that still come are not handled. */
  close(code: number, reason: string): void;
}

/** A handshake whose peer may still have to say who they are. */
export type OpeningRequest = Omit<SocketRequest, 'identity' | 'credential'>;

export interface ConnectionOptions {
  /** What the WebSocket runs over. */
  readonly stream: Duplex;
  readonly queuedBytesMax: number;
  readonly log: Log;
  /** The body of a refusal, as the service words it. */
  readonly wordFault: (fault: Fault) => unknown;
}

/** The server's end of a WebSocket. */
export class SocketConnection implements Connection {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly origin: Origin;
  readonly requestId: string;
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  readonly #inbox: Inbox;
  #admission: Admission | undefined;
  #waiting: (() => void)[] = [];
  #isFull = false;
  #hasEnded = false;
  #isAlive = true;

  /** Listens at once, so that no message is lost however late a handler comes. */
  constructor(socket: WebSocket, request: OpeningRequest, options: ConnectionOptions) {
    this.params = request.params;
    this.query = request.query;
    this.origin = request.origin;
    this.requestId = request.requestId;
    this.#socket = socket;
    this.#options = options;
    this.#inbox = new Inbox({
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      report: (error) => this.report(error),
    });
    socket.on('message', (message, isBinary) => this.#receive(message, isBinary));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    // What breaks the protocol or its limits is closed by `ws` itself with the code that fits.
    socket.on('error', (error) => options.log.debug({ err: error }, 'a socket failed'));
    socket.once('close', () => this.#end());
  }

  /** Known before any handler gets the connection. */
  get identity(): Identity {
    return this.#admitted.identity;
  }

  get credential(): string {
    return this.#admitted.credential;
  }

  get #admitted(): Admission {
    if (!this.#admission) throw new Error('nobody has said who this is');
    return this.#admission;
  }

  get isAdmitted(): boolean {
    return this.#admission !== undefined;
  }

  /** Says whose it is, once and for all. */
  admit(admission: Admission): void {
    this.#admission = admission;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  send(value: unknown): boolean {
    if (!this.#hasRoom()) return false;
    this.#socket.send(JSON.stringify(value), this.#noteSent);
    return true;
  }

  /** Without compression `ws` keeps nothing back, so that frames stay in order beside its own. */
  sendFrame(frame: Buffer): boolean {
    if (!this.#hasRoom()) return false;
    // As with `send`, what comes behind a close goes nowhere.
    if (this.#socket.readyState !== WebSocket.OPEN) return true;
    const { stream, queuedBytesMax } = this.#options;
    // To be told of each costs a tenth of the sending; those of the first half never make room.
    if (stream.writableLength + frame.length <= queuedBytesMax / 2) stream.write(frame);
    else stream.write(frame, this.#noteSent);
    return true;
  }

  sendFault(fault: Fault): boolean {
    // Every envelope is an object.
    return this.send({ type: 'error', ...(this.#options.wordFault(fault) as object) });
  }

  room(): Promise<void> {
    if (!this.#isFull || this.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  onMessage(handler: MessageHandler): void {
    this.#inbox.attach(handler);
  }

  /** Tells when the peer has gone, at the latest when it is dropped. */
  onGone(listener: () => void): void {
    this.#socket.once('close', listener);
  }

  /** Keeps the messages that follow for the next handler. */
  offMessage(): void {
    this.#inbox.detach();
  }

  close(code: number, reason: string): void {
    this.#end();
    this.#socket.close(code, reason);
  }

  /** Tells the peer what was thrown on its behalf; a fault of ours is logged. */
  report(error: unknown): void {
    const fault = Fault.from(error);
    if (fault.code === 'internal') {
      const { requestId } = this;
      this.#options.log.error({ err: fault.cause ?? fault, requestId }, 'internal error');
    }
    this.sendFault(fault);
  }

  /** Ends without a farewell. */
  terminate(): void {
    this.#socket.terminate();
  }

  /** Ends a peer that has not answered since the last probe, else asks it again. */
  probe(): void {
    if (!this.#isAlive && !this.#socket.isPaused) {
      this.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
  }

  #receive(message: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    if (isBinary) this.close(1003, 'text messages only');
    // A server's sockets give each message as one Buffer unless told otherwise.
    else this.#inbox.add((message as Buffer).toString());
  }

  #hasRoom(): boolean {
    if (this.#hasEnded) return false;
    const { stream, queuedBytesMax } = this.#options;
    this.#isFull ||= stream.writableLength >= queuedBytesMax;
    return !this.#isFull;
  }

  /** What could not be sent makes no room: the connection's end follows. */
  readonly #noteSent = (error?: Error | null): void => {
    if (error || !this.#isFull) return;
    const { stream, queuedBytesMax } = this.#options;
    if (stream.writableLength <= queuedBytesMax / 2) this.#makeRoom();
  };

  #makeRoom(): void {
    this.#isFull = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#closing.abort();
    this.#inbox.close();
    this.#makeRoom();
  }
}
