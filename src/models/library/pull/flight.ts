import { Fault } from '../../../kit/errors.ts';
import { ProgressFeed } from './progress-feed.ts';
import type { PullProgress } from './puller.ts';

/** One pull and all who watch it; it ends when the last of them has gone. */
export class Flight {
  readonly #feed = new ProgressFeed();
  readonly #stop = new AbortController();
  readonly #work: (publish: (progress: PullProgress) => void, signal: AbortSignal) => Promise<void>;
  #watchers = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(
    work: (publish: (progress: PullProgress) => void, signal: AbortSignal) => Promise<void>,
  ) {
    this.#work = work;
  }

  /** Whether it is ending without a watcher, so that nobody may join it any more. */
  get isAbandoned(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Settles when the work has ended, in whatever way. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** Begins once the promise has settled; to be called once. */
  start(after: Promise<void>): void {
    this.#done = after.then(() => this.#run());
  }

  async *watch(signal: AbortSignal): AsyncGenerator<PullProgress> {
    this.#watchers += 1;
    try {
      yield* this.#feed.watch(signal);
      if (signal.aborted) throw cancelled(signal.reason);
    } finally {
      this.#watchers -= 1;
      if (this.#watchers === 0) this.#stop.abort();
    }
  }

  /** Ends it for all watchers. */
  abandon(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#work((progress) => this.#feed.publish(progress), signal);
      this.#feed.end();
    } catch (error) {
      this.#feed.end(signal.aborted ? cancelled(error) : error);
    }
  }
}

function cancelled(cause: unknown): Fault {
  return new Fault('cancelled', 'the pull was cancelled', { cause });
}
