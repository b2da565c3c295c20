import { setTimeout as delay } from 'node:timers/promises';
import type { JsMsg, PushConsumer, StreamInfo } from '@nats-io/jetstream';
import type { Log } from '../log.ts';
import type { NatsLink, Resumable } from './nats-link.ts';
import type { Reader } from './reader.ts';

export interface NatsSubscriptionOptions<T> {
  readonly link: NatsLink;
  readonly reader: Reader<T>;
  readonly log: Log;
  /** The stream as it is now, made anew if the server lost it. */
  readonly inspect: () => Promise<StreamInfo>;
}

/**
 * Follows a stream through ordered consumers, each starting behind the last event that was seen. The
 * server pushes: where it is pulled, NATS before 2.10 may forget a pull that ends as an event comes, and
 * the client misses it only many seconds later. A client would repair a consumer by itself, but only
 * after up to a minute; here a lost one is replaced as soon as the connection is back.
 */
export class NatsSubscription<T> implements Resumable {
  readonly #options: NatsSubscriptionOptions<T>;
  readonly #closing = new AbortController();
  #messages: Awaited<ReturnType<PushConsumer['consume']>> | undefined;
  #following: Promise<void> | undefined;

  constructor(options: NatsSubscriptionOptions<T>) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { link, reader, inspect } = this.#options;
    const { state, config } = await inspect();
    reader.align(state.messages > 0 ? state.first_seq : state.last_seq + 1, state.last_seq);
    const consumer = await link.jetstream.consumers.getPushConsumer(config.name, {
      opt_start_seq: reader.position + 1,
    });
    this.#messages = await consumer.consume({
      abort_on_missing_resource: true,
      callback: (message) => this.#read(message),
    });
    void this.#messages
      .closed()
      .then(() => consumer.delete())
      .catch(() => {
        // The server forgets an idle consumer by itself.
      });
    if (this.#closing.signal.aborted) void this.#messages.close();
  }

  start(): void {
    this.#options.link.subscriptions.add(this);
    this.#following = this.#follow();
  }

  resume(): void {
    void this.#messages?.close();
  }

  async close(): Promise<void> {
    const { link, reader } = this.#options;
    reader.close();
    link.subscriptions.delete(this);
    this.#closing.abort();
    void this.#messages?.close();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { link, log } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted && !link.isClosed()) {
      try {
        if (!this.#messages) await this.open();
        const error = await this.#messages?.closed();
        if (error) log.warn({ err: error }, 'a bus subscription starts again');
      } catch (error) {
        log.warn({ err: error }, 'a bus subscription waits for its server');
      }
      this.#messages = undefined;
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  #read(message: JsMsg): void {
    const { reader, log } = this.#options;
    const { seq } = message;
    try {
      const data = message.json<T>();
      reader.accept({ seq, data, publishedAt: message.time.getTime() });
    } catch (error) {
      log.error({ err: error, seq }, 'the bus holds an event that is no JSON');
      reader.skip(seq);
    }
  }
}

const pauseMs = 100;
