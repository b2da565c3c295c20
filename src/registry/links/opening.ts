import { Fault } from '../../kit/errors.ts';

/**
 * Something that is being opened for all who wait for it. Each waiter may give up alone; when the last
 * one has, the opening is given up too.
 */
export class Opening<T> {
  readonly #open: (signal: AbortSignal) => Promise<T>;
  readonly #stop = new AbortController();
  #result: Promise<T> | undefined;
  #waiterCount = 0;
  #isSettled = false;

  constructor(open: (signal: AbortSignal) => Promise<T>) {
    this.#open = open;
  }

  /** Whether the last who waited has gone: it will fail, and nobody should wait for that. */
  get isGivenUp(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Once, before anybody waits; one of the two is called before the waiters know. */
  start(onOpened: (opened: T) => void, onFailed: () => void): void {
    this.#result = this.#run(onOpened, onFailed);
    this.#result.catch(() => {});
  }

  abort(reason: Fault): void {
    if (!this.#isSettled) this.#stop.abort(reason);
  }

  /** What was opened; nothing when that failed. Never rejects. */
  async settled(): Promise<T | undefined> {
    return this.#result?.catch(() => undefined);
  }

  /** Rejects with `cancelled` or `deadline` for this waiter alone. */
  async wait(signal: AbortSignal | undefined, timeoutMs: number): Promise<T> {
    if (signal?.aborted) throw Fault.from(signal.reason);
    this.#waiterCount += 1;
    let giveUp: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        giveUp = () => reject(Fault.from(signal?.reason));
        signal?.addEventListener('abort', giveUp, { once: true });
        timer = setTimeout(() => reject(late()), timeoutMs);
        this.#result?.then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
      if (giveUp) signal?.removeEventListener('abort', giveUp);
      this.#waiterCount -= 1;
      if (this.#waiterCount === 0) this.abort(late());
    }
  }

  async #run(onOpened: (opened: T) => void, onFailed: () => void): Promise<T> {
    try {
      const opened = await this.#open(this.#stop.signal);
      this.#isSettled = true;
      onOpened(opened);
      return opened;
    } catch (error) {
      this.#isSettled = true;
      onFailed();
      throw error;
    }
  }
}

function late(): Fault {
  return new Fault('deadline', 'the server did not answer in time', { reason: 'timeout' });
}
