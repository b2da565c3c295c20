import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { Fault } from '../errors.ts';
import type { ThreadReply, ThreadRequest } from './pglite-thread.ts';

/** 'X', Terminate: PGlite would end its process on it, so closing has its own request. */
const terminate = 0x58;

type Done = (error?: Error | null) => void;

/**
 * The thread of PGlite in the shape of a network socket, which is what node-postgres speaks to.
 * Owns the worker: it ends when the stream ends; when it dies, the stream is destroyed with a
 * Fault `unavailable`.
 */
export class PgliteStream extends Duplex {
  readonly #worker: Worker;
  #outbox: Uint8Array[] = [];
  #isEnded = false;

  constructor(worker: Worker) {
    super();
    this.#worker = worker;
    worker.on('message', (reply: ThreadReply) => {
      if (reply.kind === 'bytes') this.push(reply.bytes);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => (this.#isEnded ? this.destroy() : this.#fail()));
  }

  /** The socket's way to open a connection; the thread is ready already. */
  connect(): void {
    queueMicrotask(() => this.emit('connect'));
  }

  /** A socket's setting that means nothing here. */
  setNoDelay(): void {}

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    this.#send(chunk);
    done();
  }

  override _writev(chunks: { readonly chunk: Uint8Array }[], done: Done): void {
    for (const { chunk } of chunks) this.#send(chunk);
    done();
  }

  override _final(done: Done): void {
    this.#isEnded = true;
    this.#post();
    this.#worker.postMessage({ kind: 'close' } satisfies ThreadRequest, []);
    this.#worker.once('exit', () => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#isEnded = true;
    void this.#worker.terminate();
    done(error);
  }

  // What one turn of the event loop sends becomes one request, whose bytes move without a copy.
  #send(bytes: Uint8Array): void {
    if (bytes[0] === terminate) return;
    if (this.#outbox.length === 0) queueMicrotask(() => this.#post());
    this.#outbox.push(bytes);
  }

  #post(): void {
    if (this.#outbox.length === 0) return;
    const size = this.#outbox.reduce((sum, part) => sum + part.length, 0);
    const bytes = new Uint8Array(size);
    let offset = 0;
    for (const part of this.#outbox) {
      bytes.set(part, offset);
      offset += part.length;
    }
    this.#outbox = [];
    this.#worker.postMessage({ kind: 'bytes', bytes } satisfies ThreadRequest, [bytes.buffer]);
  }

  #fail(cause?: unknown): void {
    this.destroy(new Fault('unavailable', 'the embedded database stopped', { cause }));
  }
}
