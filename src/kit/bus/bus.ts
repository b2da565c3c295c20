export interface BusEvent<T> {
  /** Strictly increasing within a topic, below 2^53. */
  readonly seq: number;
  /** Shared by all local subscribers: read it, never change it. */
  readonly data: T;
  /** When the bus accepted the event, in milliseconds since the epoch. */
  readonly publishedAt: number;
}

/**
 * The events `from`…`to` are not retained and will never come.
 * `from: 0` says that the subscriber's place means nothing here, because the numbering began anew
 * (the server lost its storage, the clock went back, another bus): everything retained follows.
 */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

export interface SubscribeOptions {
  /** The last seq the subscriber has seen. Absent: only events accepted from now on. */
  readonly after?: number | undefined;
  /** Without it a gap is only logged. */
  readonly onGap?: ((gap: Gap) => void) | undefined;
}

export interface PublishOptions {
  /** How long the event may wait for a server that is away; 5,000 unless told, `Infinity` takes all it takes. */
  readonly patienceMs?: number | undefined;
}

export interface Subscription {
  /** After this call the handler is never entered again. May be called inside the handler. */
  close(): Promise<void>;
}

/** A named, ordered, replayable sequence of JSON values that every replica sees alike. */
export interface Topic<T> {
  /**
   * Resolves with the seq once the event is stored. Fails with `too_large` above 512 KiB of JSON,
   * and with `unavailable` when no answer came in time, or too much waits for the server already: then
   * the event may or may not be stored.
   * The events of one topic object are stored in the order of its calls, also behind a lost connection.
   */
  publish(data: T, options?: PublishOptions): Promise<number>;
  /**
   * With `after`: every retained event with a higher seq first, then the new ones; in order, none
   * twice. Events may arrive before the promise resolves. A handler that throws is logged, and its
   * event counts as seen. In process, handlers run inside `publish`: keep them short.
   */
  subscribe(
    handler: (event: BusEvent<T>) => void,
    options?: SubscribeOptions,
  ): Promise<Subscription>;
  /** The seq of the newest event ever accepted, retained or not; `after` it, nothing is missed. */
  lastSeq(): Promise<number>;
}

/** Limits of what a topic keeps for replay. A limit left out stays as the topic has it. */
export interface Retention {
  /** 10,000 unless told. */
  readonly retainCount?: number | undefined;
  /** 3,600 unless told. */
  readonly retainSeconds?: number | undefined;
}

export interface Bus extends AsyncDisposable {
  readonly kind: 'local' | 'nats';
  /** False while its server is known to be away: nobody hears of anything then. */
  readonly isConnected: boolean;
  /** Call once and keep the topic. The name is kebab-case parts, joined by dots. */
  topic<T>(name: string, options?: Retention): Topic<T>;
  /** Round trip to the server in milliseconds, 0 in process; `unavailable` when there is none. */
  ping(): Promise<number>;
}
