import { setTimeout as delay } from 'node:timers/promises';
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos, nuid } from '@nats-io/transport-node';
import { Fault } from '../errors.ts';
import type {
  BusEvent,
  PublishOptions,
  Retention,
  SubscribeOptions,
  Subscription,
  Topic,
} from './bus.ts';
import { checkPlace, defaultRetention, encodeEvent } from './limits.ts';
import type { NatsLink } from './nats-link.ts';
import { disconnected, NatsPublisher, pauseMs } from './nats-publisher.ts';
import { NatsSubscription } from './nats-subscription.ts';
import { Reader } from './reader.ts';

/** A topic kept in the stream `ennead-<name>`, subject `ennead.<name>`. */
export class NatsTopic<T> implements Topic<T> {
  readonly #link: NatsLink;
  readonly #name: string;
  readonly #stream: string;
  readonly #retention: Retention;
  readonly #publisher: NatsPublisher;
  #ready: Promise<void> | undefined;

  constructor(link: NatsLink, name: string, retention: Retention) {
    this.#link = link;
    this.#name = name;
    // A stream's name cannot hold a dot, and a topic's cannot hold an underscore.
    this.#stream = `ennead-${name.replaceAll('.', '_')}`;
    this.#retention = retention;
    this.#publisher = new NatsPublisher({
      link,
      send: (payload, id) => this.#attempt(() => this.#send(payload, id)),
      newId: () => nuid.next(),
      toFault: unavailableFault,
    });
  }

  async publish(data: T, { patienceMs }: PublishOptions = {}): Promise<number> {
    return this.#publisher.publish(encodeEvent(data), patienceMs);
  }

  async subscribe(
    handler: (event: BusEvent<T>) => void,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    const { after, onGap } = options;
    checkPlace(after);
    const log = this.#link.log.child({ topic: this.#name });
    const position = after ?? (await this.lastSeq());
    const subscription = new NatsSubscription<T>({
      link: this.#link,
      reader: new Reader<T>({ handler, onGap, position, log }),
      log,
      inspect: () => this.#attempt(() => this.#inspect()),
    });
    await this.#persist(() => subscription.open());
    subscription.start();
    return subscription;
  }

  async lastSeq(): Promise<number> {
    const { state } = await this.#persist(() => this.#inspect());
    return state.last_seq;
  }

  /** Tries until it works or time is up: a restart of the server shall not reach the caller. */
  async #persist<R>(work: () => Promise<R>): Promise<R> {
    const { timeoutMs, isConnected, isClosed } = this.#link;
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      try {
        if (!isConnected()) throw disconnected();
        return await this.#attempt(work);
      } catch (error) {
        const isHopeless = isClosed() || performance.now() + pauseMs > deadline;
        if (isHopeless) throw unavailableFault(error);
        await delay(pauseMs);
      }
    }
  }

  /** After a failure the stream is looked for again, since a server may lose its storage. */
  async #attempt<R>(work: () => Promise<R>): Promise<R> {
    try {
      this.#ready ??= this.#adopt();
      await this.#ready;
      return await work();
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** A repetition with the same id within the stream's window is answered, but not stored again. */
  async #send(payload: string, msgID: string): Promise<number> {
    const options = { msgID, timeout: attemptMs };
    const ack = await this.#link.jetstream.publish(`ennead.${this.#name}`, payload, options);
    return ack.seq;
  }

  #inspect(): Promise<StreamInfo> {
    return this.#link.manager.streams.info(this.#stream);
  }

  async #adopt(): Promise<void> {
    const { streams } = this.#link.manager;
    try {
      const { config } = await streams.info(this.#stream);
      const wanted = toLimits(this.#retention);
      const count = wanted.max_msgs ?? config.max_msgs;
      const age = wanted.max_age ?? config.max_age;
      if (count === config.max_msgs && age === config.max_age) return;
      await streams.update(this.#stream, wanted);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await streams.add({
        name: this.#stream,
        subjects: [`ennead.${this.#name}`],
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        discard: DiscardPolicy.Old,
        ...toLimits({ ...defaultRetention, ...this.#retention }),
      });
    }
  }
}

const attemptMs = 1000;
const repetitionSeconds = 15;

function toLimits({ retainCount, retainSeconds }: Retention): Partial<StreamConfig> {
  return {
    ...(retainCount === undefined ? {} : { max_msgs: retainCount }),
    ...(retainSeconds === undefined ? {} : toAgeLimits(retainSeconds)),
  };
}

/** The server refuses a window for repetitions that is longer than the age itself. */
function toAgeLimits(retainSeconds: number): Partial<StreamConfig> {
  return {
    max_age: nanos(retainSeconds * 1000),
    duplicate_window: nanos(Math.min(retainSeconds, repetitionSeconds) * 1000),
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

function unavailableFault(cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  return new Fault('unavailable', 'the event bus does not answer', { cause });
}
