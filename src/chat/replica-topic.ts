import type { Bus, Gap, Retention, Subscription, Topic } from '../kit/bus/bus.ts';
import { Outlet } from '../kit/bus/outlet.ts';
import type { Log } from '../kit/log.ts';

/** What every event says of itself, so that nobody hears their own. */
interface FromReplica {
  readonly replica: string;
}

/** Says that the bus did not take some of what its sender had to tell. */
interface Loss extends FromReplica {
  readonly isLoss: true;
}

export interface ReplicaTopicOptions<T extends FromReplica> extends FromReplica {
  readonly bus: Bus;
  readonly log: Log;
  readonly name: string;
  readonly retention: Retention;
  /** What is lost when it is lost, for the log. */
  readonly what: string;
  readonly onHeard: (event: T) => void;
  /** Others have told something that did not come here, and will not. */
  readonly onMissed: () => void;
}

const retryMs = 1_000;

/** What replicas tell one another: each hears what the others tell, or else that it missed something. */
export class ReplicaTopic<T extends FromReplica> implements AsyncDisposable {
  readonly #options: ReplicaTopicOptions<T>;
  readonly #topic: Topic<T | Loss>;
  readonly #outlet: Outlet<T | Loss>;
  #subscription: Subscription | undefined;
  /** Until others are told that they missed something. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReplicaTopicOptions<T>) {
    this.#options = options;
    const { bus, log, name, retention, what } = options;
    const topic = bus.topic<T | Loss>(name, retention);
    this.#topic = topic;
    const watched: Topic<T | Loss> = {
      publish: (event) => this.#publish(event),
      subscribe: (...given) => topic.subscribe(...given),
      lastSeq: () => topic.lastSeq(),
    };
    this.#outlet = new Outlet({ topic: watched, what, log });
  }

  async open(): Promise<void> {
    const onGap = (gap: Gap) => this.#skip(gap);
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#hear(data), { onGap });
  }

  /** Never throws, and nobody waits for it. */
  tell(event: T): void {
    this.#outlet.tell(event);
  }

  /** Resolves when what was told is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#subscription?.close();
    await this.#outlet[Symbol.asyncDispose]();
    clearTimeout(this.#timer);
  }

  async #publish(event: T | Loss): Promise<number> {
    try {
      return await this.#topic.publish(event);
    } catch (error) {
      this.#tellLossLater();
      throw error;
    }
  }

  #tellLossLater(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#tellLoss(), retryMs);
  }

  /** A bus that is away is asked again. */
  async #tellLoss(): Promise<void> {
    this.#timer = undefined;
    const { replica } = this.#options;
    try {
      await this.#topic.publish({ replica, isLoss: true });
    } catch {
      this.#tellLossLater();
    }
  }

  #skip(gap: Gap): void {
    const { log, what, onMissed } = this.#options;
    log.warn(gap, `${what} were lost before they could be read`);
    onMissed();
  }

  #hear(event: T | Loss): void {
    const { replica, onHeard, onMissed } = this.#options;
    if (event.replica === replica) return;
    if ('isLoss' in event) onMissed();
    else onHeard(event);
  }
}
