import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Bus, Retention, Topic } from './bus.ts';
import { checkRetention, checkTopicName } from './limits.ts';
import { NatsTopic } from './nats-topic.ts';
import { parseNatsUrl, type NatsAddress } from './nats-url.ts';
import { within } from '../time/time-limits.ts';
import type { NatsLink } from './nats-link.ts';

export interface NatsBusOptions {
  readonly url: string;
  readonly log: Log;
  /** How long publish, subscribe and lastSeq try before they fail with `unavailable`; 5,000. */
  readonly timeoutMs?: number;
}

/** Connects, and refuses a server that could not keep the bus's promises. */
export async function openNatsBus(options: NatsBusOptions): Promise<Bus> {
  const address = parseNatsUrl(options.url);
  const connection = await dial(address);
  try {
    checkVersion(connection.info?.version ?? '0.0.0');
    const manager = await openManager(connection);
    return new NatsBus(connection, manager, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** The bus of a suite that runs as several processes: one JetStream stream per topic. */
class NatsBus implements Bus {
  readonly kind = 'nats';
  readonly #connection: NatsConnection;
  readonly #link: NatsLink;
  #isConnected = true;
  #connectionCount = 1;

  constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    { log, timeoutMs = 5000 }: NatsBusOptions,
  ) {
    this.#connection = connection;
    this.#link = {
      jetstream: jetstream(connection, { timeout: requestTimeoutMs }),
      manager,
      log,
      timeoutMs,
      subscriptions: new Set(),
      isConnected: () => this.#isConnected,
      isClosed: () => connection.isClosed(),
      connectionCount: () => this.#connectionCount,
    };
    void this.#watch();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  topic<T>(name: string, retention: Retention = {}): Topic<T> {
    checkTopicName(name);
    checkRetention(retention);
    return new NatsTopic<T>(this.#link, name, retention);
  }

  async ping(): Promise<number> {
    const startedAt = performance.now();
    try {
      // The client's own measure has no deadline and counts whole milliseconds.
      await within(this.#connection.rtt(), requestTimeoutMs);
      return performance.now() - startedAt;
    } catch (error) {
      throw new Fault('unavailable', 'the event bus does not answer', { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = [...this.#link.subscriptions].map((subscription) => subscription.close());
    await Promise.all(closing);
    // The client drops its error listener while a write may still fail on a dying socket, which
    // would end the process: so that write comes first, and its outcome is awaited.
    await this.ping().catch(() => {});
    await this.#connection.close();
  }

  async #watch(): Promise<void> {
    const { log, subscriptions } = this.#link;
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        this.#isConnected = false;
        log.warn({ server: status.server }, 'the event bus lost its server');
      } else if (status.type === 'reconnect') {
        this.#isConnected = true;
        this.#connectionCount += 1;
        log.info({ server: status.server }, 'the event bus has its server again');
        for (const subscription of subscriptions) subscription.resume();
      } else if (status.type === 'error') {
        log.error({ err: status.error }, 'the event bus was refused something');
      }
    }
  }
}

const requestTimeoutMs = 2000;

async function dial(address: NatsAddress): Promise<NatsConnection> {
  const { servers, credentials, isEncrypted } = address;
  try {
    return await connect({
      servers,
      ...credentials,
      ...(isEncrypted ? { tls: {} } : {}),
      name: 'ennead',
      timeout: 5000,
      pingInterval: 20_000,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      // A server that comes back may refuse until its accounts are loaded.
      ignoreAuthErrorAbort: true,
    });
  } catch (error) {
    const message = `the NATS server at ${servers.join(', ')} cannot be reached or refuses us`;
    throw new Fault('unavailable', message, { cause: error });
  }
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 2 || (major === 2 && minor >= 9)) return;
  const message = `NATS server ${version} is too old: the event bus needs 2.9 or newer`;
  throw new Fault('unavailable', message);
}

async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    return await jetstreamManager(connection, { timeout: requestTimeoutMs });
  } catch (error) {
    const message =
      'the NATS server offers no JetStream: start it with -js, or enable it for the account';
    throw new Fault('unavailable', message, { cause: error });
  }
}
