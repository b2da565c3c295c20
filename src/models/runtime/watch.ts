import { readActivity } from './activity.ts';
import { Stillness } from './stillness.ts';

export interface Watched {
  readonly pid: number | undefined;
  /** Whether it has tasks. */
  isWorking(): boolean;
  /** Asks it for an answer. */
  ping(): void;
  /** It hangs; nothing is looked at after that. */
  hung(reason: string): void;
}

/** Of one limit: the child is noticed to hang at most a fifth later. */
const looks = 6;

/**
 * Looks at a child process again and again until it hangs or the watch is disposed of. Time is counted by
 * looks: while this process is stopped or asleep nobody grows still.
 */
export class Watch implements Disposable {
  readonly #watched: Watched;
  readonly #stillness: Stillness;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #hasSpoken = true;
  #hasDelivered = true;

  constructor(watched: Watched, limitMs: number) {
    this.#watched = watched;
    this.#stillness = new Stillness(limitMs);
    this.#intervalMs = limitMs / looks;
    this.#await();
  }

  /** To be told of every message of the child. `isDelivery` unless it only answers a ping. */
  heard(isDelivery: boolean): void {
    this.#hasSpoken = true;
    this.#hasDelivered ||= isDelivery;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #await(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#intervalMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { pid } = this.#watched;
    const activity = pid === undefined ? undefined : await readActivity(pid);
    if (this.#isOver) return;
    const reason = this.#stillness.look(
      {
        activity,
        hasSpoken: this.#hasSpoken,
        hasDelivered: this.#hasDelivered,
        isWorking: this.#watched.isWorking(),
      },
      this.#intervalMs,
    );
    if (reason !== undefined) {
      this.#isOver = true;
      return this.#watched.hung(reason);
    }
    // One that has not answered yet is not asked again.
    if (this.#hasSpoken) this.#watched.ping();
    this.#hasSpoken = false;
    this.#hasDelivered = false;
    this.#await();
  }
}
