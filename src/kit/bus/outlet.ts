import type { Log } from '../log.ts';
import type { Topic } from './bus.ts';

export interface OutletOptions<T> {
  readonly topic: Topic<T>;
  /** What is lost when it is lost, for the log: `events of the mesh`. */
  readonly what: string;
  readonly log: Log;
  /** While the bus takes nothing, more than this many are not kept for it; 10,000 unless told. */
  readonly waitingMax?: number;
  /** How long each may wait for a bus that is away; see `PublishOptions`. */
  readonly patienceMs?: number;
}

const waitingMaxDefault = 10_000;
/** What the bus has not taken by then when its teller leaves is lost. */
const leavingMs = 5_000;

/**
 * Publishes what nobody waits for: never throws and never holds up its caller. What the bus does not
 * take is lost, and the log says so once.
 */
export class Outlet<T> implements AsyncDisposable {
  readonly topic: Topic<T>;
  readonly #options: OutletOptions<T>;
  /** How many are on their way. */
  #waiting = 0;
  /** Who waits until none is. */
  readonly #onIdle: (() => void)[] = [];
  #lostCount = 0;

  constructor(options: OutletOptions<T>) {
    this.topic = options.topic;
    this.#options = options;
  }

  tell(data: T): void {
    if (this.#waiting >= (this.#options.waitingMax ?? waitingMaxDefault)) {
      this.#noteLost('too many wait for the bus');
      return;
    }
    this.#waiting += 1;
    const { patienceMs } = this.#options;
    this.topic.publish(data, { patienceMs }).then(this.#noteTaken, this.#noteRefused);
  }

  /** Resolves when what was told is on its way, at the latest after five seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#waiting === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
      timer = setTimeout(resolve, leavingMs);
    });
    clearTimeout(timer);
  }

  // Made once, not for each event.
  readonly #noteTaken = () => {
    this.#lostCount = 0;
    this.#noteSettled();
  };

  readonly #noteRefused = (error: unknown) => {
    this.#noteLost(error);
    this.#noteSettled();
  };

  #noteSettled(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** The first of a row only: a bus that is away loses them all. */
  #noteLost(err: unknown): void {
    this.#lostCount += 1;
    if (this.#lostCount > 1) return;
    const { log, what } = this.#options;
    log.warn({ err }, `${what} are lost until the bus takes them again`);
  }
}
