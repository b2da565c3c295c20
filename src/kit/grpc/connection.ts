import {
  constants,
  performServerHandshake,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { isGrpc } from './headers.ts';

export interface ConnectionOptions {
  /** Gets each stream that speaks gRPC. */
  readonly onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
  readonly streamsMax: number;
  /** A client that does not answer one ping by the next is gone. */
  readonly pingMs: number;
  /** After which it is asked to end, give or take a tenth. */
  readonly ageMsMax: number;
  /** How long the calls may take that run then. */
  readonly graceMs: number;
}

const { NGHTTP2_NO_ERROR } = constants;
/** The most that the headers of a call may have. */
const headerBytesMax = 16 * 1024;

/** One connection: HTTP/2 that ends when it is dead, too old, or no longer wanted. */
export class GrpcConnection {
  readonly #session: ServerHttp2Session;
  readonly #options: ConnectionOptions;
  readonly #pings: NodeJS.Timeout;
  readonly #age: NodeJS.Timeout;
  #grace: NodeJS.Timeout | undefined;
  #isAlive = true;

  constructor(socket: Duplex, options: ConnectionOptions) {
    this.#options = options;
    this.#session = performServerHandshake(socket, {
      settings: { maxConcurrentStreams: options.streamsMax, maxHeaderListSize: headerBytesMax },
    });
    // An error has ended it by then, and every call has learnt of it.
    this.#session.on('error', () => {});
    this.#session.on('stream', (stream, headers) => this.#take(stream, headers));
    this.#pings = setInterval(() => this.#ping(), options.pingMs).unref();
    const ageMs = options.ageMsMax * (0.9 + Math.random() * 0.2);
    this.#age = setTimeout(() => this.drain(), ageMs).unref();
    this.#session.once('close', () => this.#clear());
  }

  onClose(listener: () => void): void {
    this.#session.once('close', listener);
  }

  /** Takes no new call and ends when those that run have ended. */
  drain(): void {
    const session = this.#session;
    if (this.#grace || session.destroyed) return;
    this.#grace = setTimeout(() => this.destroy(), this.#options.graceMs).unref();
    // Behind what has come already. Its GOAWAY says which calls are served; clients make any later one
    // again elsewhere, but only once.
    setImmediate(() => session.close());
  }

  /** Ends it with all its calls. */
  destroy(): void {
    this.#session.destroy();
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // The reason of its end reaches the call as `aborted`.
    stream.on('error', () => {});
    if (stream.destroyed || stream.closed) return;
    if (headers[':method'] !== 'POST') return refuse(stream, 405);
    if (!isGrpc(headers['content-type'])) return refuse(stream, 415);
    this.#options.onStream(stream, headers);
  }

  #ping(): void {
    const session = this.#session;
    if (!this.#isAlive) return this.destroy();
    this.#isAlive = false;
    session.ping(() => (this.#isAlive = true));
  }

  #clear(): void {
    clearInterval(this.#pings);
    clearTimeout(this.#age);
    clearTimeout(this.#grace);
  }
}

/** An answer that no client of HTTP can take for a success. */
function refuse(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ':status': status }, { endStream: true });
  stream.resume();
  if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR);
}
