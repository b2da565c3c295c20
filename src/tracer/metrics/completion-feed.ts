import { newId } from '../../kit/ids.ts';
import type { BusEvent, Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import type { TraceEvent } from '../intake/writes.ts';
import type { LiveWindow } from './live.ts';

/** A trace that became complete, as replicas tell each other. */
export interface CompletedTrace extends TraceEvent {
  /** The process that completed it. */
  readonly origin: string;
}

export interface CompletionFeedOptions {
  readonly topic: Topic<CompletedTrace>;
  readonly live: LiveWindow;
  readonly log: Log;
}

/**
 * Tells of complete traces and counts them in the live window: its own at once, so that a bus that is away
 * costs none of them, and other replicas' as far as the bus tells of them.
 */
export class CompletionFeed implements AsyncDisposable {
  readonly #options: CompletionFeedOptions;
  readonly #origin = newId('replica');
  #subscription: Subscription | undefined;

  private constructor(options: CompletionFeedOptions) {
    this.#options = options;
  }

  /** Listens from now on; rejects when the bus cannot be reached. */
  static async open(options: CompletionFeedOptions): Promise<CompletionFeed> {
    const feed = new CompletionFeed(options);
    feed.#subscription = await options.topic.subscribe((event) => feed.#take(event));
    return feed;
  }

  /** Traces that became complete here. */
  tell(events: readonly TraceEvent[]): void {
    const { topic, log } = this.#options;
    for (const event of events) {
      this.#count(event);
      topic.publish({ ...event, origin: this.#origin }).catch((err: unknown) => {
        log.warn({ err, traceId: event.traceId }, 'a complete trace could not be told of');
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
  }

  #take({ data }: BusEvent<CompletedTrace>): void {
    if (data.origin !== this.#origin) this.#count(data);
  }

  #count(event: TraceEvent): void {
    if (event.isFirst) this.#options.live.add({ ...event, isError: event.status !== 'success' });
  }
}
