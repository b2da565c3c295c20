import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Log } from '../log.ts';
import type { Subscription } from './bus.ts';

/** What topics and subscriptions need of the connection that they share. */
export interface NatsLink {
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly subscriptions: Set<Resumable>;
  readonly log: Log;
  /** How long a caller waits before it is told that the bus is unavailable. */
  readonly timeoutMs: number;
  /** False while the server is away: nothing is sent then, because the client would hoard it. */
  readonly isConnected: () => boolean;
  readonly isClosed: () => boolean;
  /** Counts the connections: another number means that what was sent before may be lost. */
  readonly connectionCount: () => number;
}

/** A subscription as the connection sees it. */
export interface Resumable extends Subscription {
  /** Starts again behind the last event seen; the server may have forgotten its side. */
  resume(): void;
}
