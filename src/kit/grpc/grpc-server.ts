import type { Duplex } from 'node:stream';
import { Fault } from '../errors.ts';
import { GrpcConnection } from './connection.ts';
import { requireEncoding } from './frames.ts';
import { IncomingCall, type CallOptions, type GrpcCall } from './incoming-call.ts';
import { Outbox, outboxLimits, type OutboxLimits, type OutboxTotal } from './outbox.ts';
import { receiveAll, receiveOne } from './requests.ts';
import { GrpcRefusal, statusOf, type GrpcStatus } from './status.ts';

/** A method as `@grpc/proto-loader` describes it. */
export interface GrpcMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly requestDeserialize: (bytes: Buffer) => object;
  readonly responseSerialize: (answer: object) => Uint8Array;
}

/** Asked with one message, answers with one. */
export type UnaryHandler<Peer> = (
  request: object,
  call: GrpcCall<Peer>,
) => Promise<object> | object;

/** Asked with one message, answers with any number of them; it stops when the call is cancelled. */
export type ServerStreamHandler<Peer> = (
  request: object,
  call: GrpcCall<Peer>,
) => AsyncIterable<object>;

/** Asked with any number of messages, answers with any number of them. */
export type BidiStreamHandler<Peer> = (
  requests: AsyncIterable<object>,
  call: GrpcCall<Peer>,
) => AsyncIterable<object>;

export interface GrpcServerOptions<Peer> {
  /** The most bytes of a message that comes, inflated too. */
  readonly requestBytesMax: number;
  /** The most bytes of a message that goes. */
  readonly answerBytesMax: number;
  /** Words what a handler throws; without it a Fault tells its code and message, all else nothing. */
  readonly statusOf?: (error: unknown, call: GrpcCall<Peer>) => GrpcStatus;
  /** Calls at once on one connection; 200. */
  readonly streamsMax?: number;
  /** Between two pings; a client that does not answer one by the next is gone; 1 minute. */
  readonly pingMs?: number;
  /** After which a connection is asked to end, give or take a tenth; 10 minutes. */
  readonly connectionMsMax?: number;
  /** How long calls may take that run then; 1 minute. */
  readonly connectionGraceMs?: number;
  /**
   * After which, or twice it, a call ends whose one message is not there yet, and a connection of which an
   * answer is not taken yet; 30 s.
   */
  readonly clientMsMax?: number;
  /** Of what clients have not taken. */
  readonly outboxLimits?: Partial<OutboxLimits>;
}

/** How long the ends of calls may take to reach their clients when the server closes. */
const farewellMs = 500;

/**
 * A server of gRPC over HTTP/2 (grpc/grpc, doc/PROTOCOL-HTTP2.md) on connections that somebody else
 * accepts: with `identity`, `gzip` and `deflate`, deadlines, cancellation and orderly ends. What a
 * listener knows of a connection reaches every call of it as its `peer`.
 */
export class GrpcServer<Peer> {
  readonly #options: GrpcServerOptions<Peer>;
  readonly #methods = new Map<string, (call: IncomingCall<Peer>) => void>();
  readonly #connections = new Set<GrpcConnection>();
  /** Until nothing of them is left, the oldest first. */
  readonly #calls = new Set<IncomingCall<Peer>>();
  readonly #unsent: OutboxTotal = { bytes: 0 };
  readonly #sweeps: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: GrpcServerOptions<Peer>) {
    this.#options = options;
    this.#sweeps = setInterval(() => this.#sweep(), options.clientMsMax ?? 30_000).unref();
  }

  /** Serves a method that is asked with one message and answers with one. */
  addUnary(method: GrpcMethod, handler: UnaryHandler<Peer>): void {
    this.#methods.set(method.path, (call) =>
      this.#receiveOne(call, (message) => {
        const answer = handler(readRequest(method, message), call);
        if (!(answer instanceof Promise)) return call.answer(method.responseSerialize(answer));
        answer
          .then((value) => call.answer(method.responseSerialize(value)))
          .catch((error: unknown) => call.fail(error));
      }),
    );
  }

  /** Serves a method that is asked with one message and answers with any number of them. */
  addServerStream(method: GrpcMethod, handler: ServerStreamHandler<Peer>): void {
    this.#methods.set(method.path, (call) =>
      this.#receiveOne(call, (message) => {
        const answers = handler(readRequest(method, message), call);
        void call.answerAll(answers, method.responseSerialize);
      }),
    );
  }

  /** Serves a method that takes and answers any number of messages. */
  addBidiStream(method: GrpcMethod, handler: BidiStreamHandler<Peer>): void {
    this.#methods.set(method.path, (call) => {
      const answers = handler(readRequests(method, call), call);
      void call.answerAll(answers, method.responseSerialize);
    });
  }

  /** Serves a connection on which the client begins HTTP/2. */
  accept(socket: Duplex, peer: Peer): void {
    if (this.#isClosed || socket.destroyed) {
      socket.destroy();
      return;
    }
    const { streamsMax = 200, pingMs = 60_000, ...given } = this.#options;
    const { connectionMsMax = 600_000, connectionGraceMs = 60_000 } = given;
    const connection: GrpcConnection = new GrpcConnection(socket, {
      onStream: (stream, headers) => this.#serve(new IncomingCall(stream, headers, options)),
      streamsMax,
      pingMs,
      ageMsMax: connectionMsMax,
      graceMs: connectionGraceMs,
    });
    const options = this.#callOptions(peer, connection);
    this.#connections.add(connection);
    connection.onClose(() => this.#connections.delete(connection));
  }

  /** Takes no further call; those that run go on. */
  drain(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.drain();
  }

  /**
   * Takes no further call, lets those that run end for so many milliseconds, and ends the rest as
   * `unavailable`.
   */
  async close(graceMs: number): Promise<void> {
    this.drain();
    const ended = [...this.#connections].map(
      (connection) => new Promise<void>((resolve) => connection.onClose(resolve)),
    );
    const timers = [
      setTimeout(() => this.#stopCalls(), graceMs),
      setTimeout(() => this.#destroyConnections(), graceMs + farewellMs),
    ];
    await Promise.all(ended);
    for (const timer of timers) clearTimeout(timer);
    clearInterval(this.#sweeps);
  }

  #callOptions(peer: Peer, connection: GrpcConnection): CallOptions<Peer> {
    const { requestBytesMax, answerBytesMax, ...given } = this.#options;
    const endConnection = () => connection.destroy();
    const outbox = new Outbox({
      limits: { ...outboxLimits, ...given.outboxLimits },
      total: this.#unsent,
      onOverflow: endConnection,
      onTotalOverflow: () => this.#endOldest(),
    });
    return {
      peer,
      requestBytesMax,
      answerBytesMax,
      statusOf: given.statusOf ?? statusOf,
      outbox,
      endConnection,
      onClose: (call) => this.#calls.delete(call),
    };
  }

  #serve(call: IncomingCall<Peer>): void {
    this.#calls.add(call);
    try {
      const serve = this.#methods.get(call.path);
      if (!serve) throw new GrpcRefusal('unimplemented', 'there is no such method');
      requireEncoding(call.encoding);
      call.watchDeadline();
      serve(call);
    } catch (error) {
      call.fail(error);
    }
  }

  #receiveOne(call: IncomingCall<Peer>, take: (message: Buffer) => void): void {
    call.beginReceiving();
    receiveOne(call, (message) => call.receive(message.length, () => take(message)));
  }

  /** One timer for all calls costs each of them next to nothing. */
  #sweep(): void {
    for (const call of this.#calls) call.sweep();
  }

  #endOldest(): void {
    for (const call of this.#calls) if (call.isSending) return call.options.endConnection();
  }

  #stopCalls(): void {
    const fault = new Fault('unavailable', 'the server is stopping', { retryAfter: 5 });
    for (const call of this.#calls) call.stop(fault);
  }

  #destroyConnections(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

function readRequest(method: GrpcMethod, message: Buffer): object {
  try {
    return method.requestDeserialize(message);
  } catch {
    throw new GrpcRefusal('internal', 'the message is not what the method takes');
  }
}

async function* readRequests<Peer>(method: GrpcMethod, call: IncomingCall<Peer>) {
  for await (const message of receiveAll(call)) yield readRequest(method, message);
}
