import type { Bus, Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import type { Log } from '../../kit/log.ts';
import { registryTopic, type EventSink, type RegistryEvent } from '../events.ts';

export interface EventFeedOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** Told of each event of this replica, at once. */
  readonly onEvent?: (event: RegistryEvent) => void;
}

/** What happens to connections, on a topic that every replica's streams read. */
export class EventFeed implements EventSink, AsyncDisposable {
  readonly topic: Topic<RegistryEvent>;
  readonly #onEvent: EventFeedOptions['onEvent'];
  readonly #outlet: Outlet<RegistryEvent>;

  constructor({ bus, log, onEvent }: EventFeedOptions) {
    this.#onEvent = onEvent;
    this.topic = bus.topic<RegistryEvent>(registryTopic);
    const { topic } = this;
    this.#outlet = new Outlet({ topic, what: 'events of the registry', log, patienceMs: Infinity });
  }

  tell(event: RegistryEvent): void {
    this.#onEvent?.(event);
    this.#outlet.tell(event);
  }

  /** Resolves when what was told is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#outlet[Symbol.asyncDispose]();
  }
}
