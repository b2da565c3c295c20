import type { Worker } from 'node:worker_threads';

export interface LastingThreadOptions<Reply> {
  readonly start: () => Worker;
  readonly onReply: (reply: Reply) => void;
  /** Told when the thread has died by itself: what it was asked for will not be answered. */
  readonly onDeath: (reason: unknown) => void;
  /** Told when another one has taken its place. */
  readonly onRestart?: () => void;
}

const restartMs = 1_000;

/** A thread that is started again a second after it died, with nothing of what it knew. */
export class LastingThread<Request, Reply> implements AsyncDisposable {
  readonly #options: LastingThreadOptions<Reply>;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: LastingThreadOptions<Reply>) {
    this.#options = options;
    this.#worker = this.#start();
  }

  /** Which thread it is now; undefined while there is none. */
  get current(): object | undefined {
    return this.#worker;
  }

  /** Posts to the thread that there is now, or to none when it is not the one that is meant. */
  post(
    request: Request,
    moved: ArrayBuffer[] = [],
    meant: object | undefined = this.#worker,
  ): void {
    if (meant === this.#worker) this.#worker?.postMessage(request, moved);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = this.#options.start();
    let reason: unknown = new Error('the thread ended');
    worker.on('message', (reply: Reply) => {
      if (worker === this.#worker) this.#options.onReply(reply);
    });
    worker.on('error', (error) => (reason = error));
    worker.once('exit', () => this.#onExit(reason));
    return worker;
  }

  #onExit(reason: unknown): void {
    if (this.#isClosed) return;
    this.#worker = undefined;
    this.#options.onDeath(reason);
    this.#timer = setTimeout(() => {
      this.#worker = this.#start();
      this.#options.onRestart?.();
    }, restartMs);
  }
}

/** The memory of bytes that have it to themselves: it can be moved to another thread instead of copied. */
export function ownMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
