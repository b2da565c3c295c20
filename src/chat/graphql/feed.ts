import { Fault } from '../../kit/errors.ts';
import { readTooSlowly } from '../turns/turn-faults.ts';

interface Queued<Value> {
  value: Value;
  size: number;
}

export interface FeedOptions<Value> {
  /** What may wait for the reader, in the unit of `push`; whoever is slower loses the feed. */
  readonly queuedMax: number;
  /** Joins a value to the one that waits last, where both can be told as one. */
  readonly join?: (last: Value, next: Value) => Value | undefined;
  /** Ends it at once: as if complete for a reader who has gone, else with the reason, which is a Fault. */
  readonly signal: AbortSignal;
  /** Runs once, when the reader has gone or the feed has ended. */
  readonly onClose: () => void;
}

/**
 * What is pushed becomes what is read. Unlike a generator it ends at once when its reader returns,
 * also while it waits for something to come, so that nothing is left behind by who hangs up.
 */
export class Feed<Value> implements AsyncIterableIterator<Value, undefined> {
  readonly #options: FeedOptions<Value>;
  readonly #queue: Queued<Value>[] = [];
  #size = 0;
  #reader: PromiseWithResolve<Value> | undefined;
  #waiting: (() => void)[] = [];
  #failure: { readonly reason: unknown } | undefined;
  #isClosed = false;

  constructor(options: FeedOptions<Value>) {
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#leave();
    else signal.addEventListener('abort', this.#leave, { once: true });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Tells the reader; `size` counts while it waits. */
  push(value: Value, size = 1): void {
    if (this.#isClosed || this.#failure) return;
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      reader.resolve({ done: false, value });
      return;
    }
    this.#keep(value, size);
    if (this.#size > this.#options.queuedMax) this.fail(readTooSlowly());
  }

  /** Resolves when little waits for the reader, and when nobody reads any longer. */
  room(): Promise<void> {
    if (this.#isClosed || this.#size <= this.#options.queuedMax / 4) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the feed with an error, behind what waits already. */
  fail(reason: unknown): void {
    if (this.#isClosed || this.#failure) return;
    this.#failure = { reason };
    const reader = this.#reader;
    this.#reader = undefined;
    if (!reader) return;
    this.#close();
    reader.reject(reason);
  }

  readonly #leave = (): void => {
    const { reason } = this.#options.signal;
    if (!(reason instanceof Fault) || reason.code === 'cancelled') return this.close();
    this.#queue.length = 0;
    this.fail(reason);
  };

  /** Ends it as if its reader had gone. */
  close(): void {
    this.#queue.length = 0;
    const reader = this.#reader;
    this.#reader = undefined;
    this.#close();
    reader?.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    const first = this.#queue.shift();
    if (first) {
      this.#size -= first.size;
      this.#makeRoom();
      return Promise.resolve({ done: false, value: first.value });
    }
    if (this.#failure && !this.#isClosed) {
      this.#close();
      return Promise.reject(this.#failure.reason);
    }
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
  }

  return(): Promise<IteratorResult<Value, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  throw(): Promise<IteratorResult<Value, undefined>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #keep(value: Value, size: number): void {
    this.#size += size;
    const last = this.#queue.at(-1);
    const joined = last && this.#options.join?.(last.value, value);
    if (last && joined) {
      last.value = joined;
      last.size += size;
    } else {
      this.#queue.push({ value, size });
    }
  }

  #makeRoom(): void {
    if (this.#size > this.#options.queuedMax / 4) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#size = 0;
    this.#makeRoom();
    this.#options.signal.removeEventListener('abort', this.#leave);
    this.#options.onClose();
  }
}

interface PromiseWithResolve<Value> {
  readonly resolve: (result: IteratorResult<Value, undefined>) => void;
  readonly reject: (reason: unknown) => void;
}
