import type { Log } from '../log.ts';
import type { Topic } from './bus.ts';

export interface OutletOptions<T> {
  readonly topic: Topic<T>;
  /** What is lost when it is lost, for the log: `events of the mesh`. */
  readonly what: string;
  readonly log: Log;
  /** While the bus takes nothing, more than this many are not kept for it; 10,000 unless told. */
  readonly waitingMax?: number;
}

const waitingMaxDefault = 10_000;

/**
 * Publishes what nobody waits for: never throws and never holds up its caller. What the bus does not
 * take is lost, and the log says so once.
 */
export class Outlet<T> implements AsyncDisposable {
  readonly topic: Topic<T>;
  readonly #options: OutletOptions<T>;
  readonly #waiting = new Set<Promise<void>>();
  #lostCount = 0;

  constructor(options: OutletOptions<T>) {
    this.topic = options.topic;
    this.#options = options;
  }

  tell(data: T): void {
    if (this.#waiting.size >= (this.#options.waitingMax ?? waitingMaxDefault)) {
      this.#noteLost('too many wait for the bus');
      return;
    }
    const told = this.#publish(data).finally(() => this.#waiting.delete(told));
    this.#waiting.add(told);
  }

  /** Resolves when what was told is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#waiting);
  }

  async #publish(data: T): Promise<void> {
    try {
      await this.topic.publish(data);
      this.#lostCount = 0;
    } catch (error) {
      this.#noteLost(error);
    }
  }

  /** The first of a row only: a bus that is away loses them all. */
  #noteLost(err: unknown): void {
    this.#lostCount += 1;
    if (this.#lostCount > 1) return;
    const { log, what } = this.#options;
    log.warn({ err }, `${what} are lost until the bus takes them again`);
  }
}
