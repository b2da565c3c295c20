import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { Cancellation } from '../cancellation.ts';
import { Fault } from '../errors.ts';
import { framed } from './frames.ts';
import { metadataOf, timeoutMsOf, trailersOf } from './headers.ts';
import type { Outbox } from './outbox.ts';
import { GrpcRefusal, type GrpcStatus } from './status.ts';

/** What a method learns of the call that it serves. */
export interface GrpcCall<Peer> {
  readonly path: string;
  /** Who is at the other end of the connection, as its listener has found out. */
  readonly peer: Peer;
  /** Cancelled when the caller gave up, its connection was lost, or its deadline has passed. */
  readonly cancellation: Cancellation;
  /** The values of a header: one text, or the bytes of each where the name ends in `-bin`. */
  metadata(name: string): readonly (string | Buffer)[];
}

/** What a call is served with. */
export interface CallOptions<Peer> {
  readonly peer: Peer;
  readonly requestBytesMax: number;
  readonly answerBytesMax: number;
  readonly statusOf: (error: unknown, call: GrpcCall<Peer>) => GrpcStatus;
  /** Of the connection. */
  readonly outbox: Outbox;
  /** Ends the connection with all its calls. */
  readonly endConnection: () => void;
  /** Told once of each call when nothing of it is left. */
  readonly onClose: (call: IncomingCall<Peer>) => void;
}

/** `working`: whatever it waits for is not the client's to do. */
type Phase = 'receiving' | 'working' | 'sending';

/** The longest that a timer of Node can wait. */
const timerMsMax = 2 ** 31 - 1;

const head = { ':status': 200, 'content-type': 'application/grpc' } as const;
const success: OutgoingHttpHeaders = { 'grpc-status': '0' };

/** One call from its first header to its trailers. It is answered once; what comes later is dropped. */
export class IncomingCall<Peer> implements GrpcCall<Peer> {
  readonly cancellation = new Cancellation();
  readonly stream: ServerHttp2Stream;
  readonly options: CallOptions<Peer>;
  readonly #headers: IncomingHttpHeaders;
  #trailers = success;
  #isEnded = false;
  #phase: Phase = 'working';
  /** Of the server, since the phase began. */
  #sweeps = 0;
  #unsentBytes = 0;
  #deadline: NodeJS.Timeout | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: CallOptions<Peer>) {
    this.stream = stream;
    this.options = options;
    this.#headers = headers;
    stream.on('close', () => this.#forget());
  }

  get path(): string {
    return this.#headers[':path'] ?? '';
  }

  get peer(): Peer {
    return this.options.peer;
  }

  /** Of the messages that are said to be compressed. */
  get encoding(): string | undefined {
    return this.#header('grpc-encoding');
  }

  /** Whether it is answered, or nobody waits for the answer. */
  get isEnded(): boolean {
    // A stream tells of its close a little later.
    return this.#isEnded || this.stream.closed;
  }

  /** Whether its client has yet to take what it was sent. */
  get isSending(): boolean {
    return this.#phase === 'sending';
  }

  metadata(name: string): readonly (string | Buffer)[] {
    return metadataOf(this.#headers, name);
  }

  /** Ends the call at the caller's deadline; throws a GrpcRefusal when what it said is none. */
  watchDeadline(): void {
    const timeout = this.#header('grpc-timeout');
    if (timeout === undefined) return;
    const ms = timeoutMsOf(timeout);
    if (ms === undefined) throw new GrpcRefusal('internal', 'the grpc-timeout cannot be read');
    this.#deadline = setTimeout(() => this.expire(), Math.min(ms, timerMsMax));
  }

  /** Ends a call that has had its time. */
  expire(): void {
    this.stop(new Fault('deadline', 'the call took too long'));
  }

  /** Ends the work on it and the call. */
  stop(fault: Fault): void {
    if (this.isEnded) return;
    this.cancellation.cancel(fault);
    this.fail(fault);
  }

  /** Says that the request is coming: from then on the client must not take too long. */
  beginReceiving(): void {
    this.#enter('receiving');
  }

  /** Says that the request, of so many bytes, is there; calls back once the work on it may begin. */
  receive(bytes: number, begin: () => void): void {
    this.#enter('working');
    this.options.outbox.admit(bytes, () => {
      if (this.isEnded) return;
      try {
        begin();
      } catch (error) {
        this.fail(error);
      }
    });
  }

  /** Ends what the client has left undone since the sweep before. */
  sweep(): void {
    this.#sweeps += 1;
    if (this.#sweeps < 2) return;
    if (this.#phase === 'receiving' && !this.#isEnded) this.expire();
    else if (this.#phase === 'sending') this.options.endConnection();
  }

  /** Sends the one answer. */
  answer(message: Uint8Array): void {
    if (this.isEnded) return;
    const frame = this.#framed(message);
    this.#end();
    this.#open();
    this.stream.end(frame);
    this.#hold(frame.length);
  }

  /** Sends each answer when the one before has gone, and what came of it in the trailers. */
  async answerAll<Answer>(
    answers: AsyncIterable<Answer>,
    serialize: (answer: Answer) => Uint8Array,
  ): Promise<void> {
    try {
      for await (const answer of answers) {
        if (this.isEnded) return;
        await this.#write(this.#framed(serialize(answer)));
      }
      this.#close(success);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the call with the status of an error. */
  fail(error: unknown): void {
    if (this.isEnded) return;
    const isRefusal = error instanceof GrpcRefusal;
    this.#close(trailersOf(isRefusal ? error.status : this.options.statusOf(error, this)));
  }

  #header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  #framed(message: Uint8Array): Buffer {
    if (message.length <= this.options.answerBytesMax) return framed(message);
    throw new GrpcRefusal('exhausted', 'the answer is too large');
  }

  #open(): void {
    const { stream } = this;
    stream.respond(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(this.#trailers));
  }

  /** Resolves when there is room for the next one, or nobody waits for it. */
  async #write(frame: Buffer): Promise<void> {
    const { stream, cancellation } = this;
    if (!stream.headersSent) this.#open();
    if (stream.write(frame)) return;
    this.#hold(frame.length);
    await new Promise<void>((resolve) => {
      const onEnd = () => {
        stream.off('drain', onEnd);
        cancellation.offCancel(onEnd);
        resolve();
      };
      stream.on('drain', onEnd);
      cancellation.onCancel(onEnd);
    });
    this.#release();
  }

  #hold(bytes: number): void {
    this.#enter('sending');
    this.#unsentBytes = bytes;
    this.options.outbox.hold(bytes);
  }

  #release(): void {
    const bytes = this.#unsentBytes;
    if (bytes === 0) return;
    this.#enter('working');
    this.#unsentBytes = 0;
    this.options.outbox.release(bytes);
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#sweeps = 0;
  }

  #close(trailers: OutgoingHttpHeaders): void {
    if (this.isEnded) return;
    this.#end();
    const { stream } = this;
    this.#trailers = trailers;
    const isAtOnce = !stream.headersSent;
    if (isAtOnce) stream.respond({ ...head, ...trailers }, { endStream: true });
    else stream.end();
    if (stream.readableEnded) return;
    // What the caller still sends is of no use, and it is told so.
    stream.resume();
    if (isAtOnce) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  #end(): void {
    this.#isEnded = true;
    clearTimeout(this.#deadline);
  }

  #forget(): void {
    this.options.onClose(this);
    this.#release();
    if (this.#isEnded) return;
    this.#end();
    this.cancellation.cancel(new Fault('cancelled', 'the caller gave up'));
  }
}
