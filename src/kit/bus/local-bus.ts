import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Bus, BusEvent, Retention, SubscribeOptions, Subscription, Topic } from './bus.ts';
import { Reader } from './reader.ts';
import { Retained } from './retained.ts';
import {
  checkPlace,
  checkRetention,
  checkTopicName,
  defaultRetention,
  contentOf,
} from './limits.ts';

export interface LocalBusOptions {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The bus of a suite that is one process. What it retains ends with the process. */
export class LocalBus implements Bus {
  readonly kind = 'local';
  readonly isConnected = true;
  readonly #options: LocalBusOptions;
  readonly #topics = new Map<string, LocalTopic<unknown>>();
  #isClosed = false;

  constructor(options: LocalBusOptions) {
    this.#options = options;
  }

  topic<T>(name: string, retention: Retention = {}): Topic<T> {
    checkTopicName(name);
    checkRetention(retention);
    const topic = this.#topics.get(name) ?? this.#addTopic(name);
    topic.retain(retention);
    // What a topic carries is agreed between those who name it; nothing can check it here.
    return topic as unknown as Topic<T>;
  }

  async ping(): Promise<number> {
    if (this.#isClosed) throw closedFault();
    return 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const topic of this.#topics.values()) topic.close();
  }

  #addTopic(name: string): LocalTopic<unknown> {
    const { log, now = Date.now } = this.#options;
    const topic = new LocalTopic<unknown>(log.child({ topic: name }), now);
    if (this.#isClosed) topic.close();
    this.#topics.set(name, topic);
    return topic;
  }
}

class LocalTopic<T> implements Topic<T> {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #events: Retained<T>;
  readonly #readers = new Set<Reader<T>>();
  #retention: { retainCount: number; retainSeconds: number } = defaultRetention;
  #isDelivering = false;
  #isClosed = false;

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
    // The clock in microseconds keeps the numbers rising over a restart, below 2^53 until 2255.
    this.#events = new Retained(now() * 1000);
  }

  retain(retention: Retention): void {
    const { retainCount, retainSeconds } = this.#retention;
    this.#retention = {
      retainCount: retention.retainCount ?? retainCount,
      retainSeconds: retention.retainSeconds ?? retainSeconds,
    };
  }

  async publish(data: T): Promise<number> {
    if (this.#isClosed) throw closedFault();
    const seq = this.#events.add(contentOf(data), this.#now());
    this.#deliver();
    return seq;
  }

  async subscribe(
    handler: (event: BusEvent<T>) => void,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    const { after, onGap } = options;
    checkPlace(after);
    if (this.#isClosed) throw closedFault();
    const position = after ?? this.#events.last;
    const reader = new Reader<T>({ handler, onGap, position, log: this.#log });
    if (!this.#isDelivering) this.#prune();
    reader.align(this.#events.first, this.#events.last);
    this.#readers.add(reader);
    this.#deliver();
    return {
      close: async () => {
        reader.close();
        this.#readers.delete(reader);
      },
    };
  }

  async lastSeq(): Promise<number> {
    if (this.#isClosed) throw closedFault();
    return this.#events.last;
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
    this.#events.clear();
  }

  /**
   * An event that a handler publishes waits for its turn, so that everyone sees the same order;
   * nothing is given up before everyone has read it.
   */
  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    let last: number;
    do {
      last = this.#events.last;
      for (const reader of this.#readers) this.#feed(reader);
    } while (last !== this.#events.last);
    this.#isDelivering = false;
    this.#prune();
  }

  #feed(reader: Reader<T>): void {
    while (!reader.isClosed) {
      const event = this.#events.find(reader.position + 1);
      if (!event) return;
      reader.accept(event);
    }
  }

  #prune(): void {
    const { retainCount, retainSeconds } = this.#retention;
    const events = this.#events;
    const freshFrom = this.#now() - retainSeconds * 1000;
    while (events.size > retainCount || events.oldestAt < freshFrom) events.dropOldest();
  }
}

function closedFault(): Fault {
  return new Fault('unavailable', 'the event bus is closed');
}
