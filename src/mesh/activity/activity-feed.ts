import type { Bus, Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { Activity, ActivityEvent } from './activity.ts';

/** Where all replicas tell what happens on the mesh. */
export const activityTopic = 'mesh.activity';

export interface ActivityFeedOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** Told of each event of this replica, at once. */
  readonly onEvent?: (type: string, data: Readonly<Record<string, unknown>>) => void;
}

/** The events of the mesh, on a topic that every replica's streams read. */
export class ActivityFeed implements Activity, AsyncDisposable {
  readonly topic: Topic<ActivityEvent>;
  readonly #onEvent: ActivityFeedOptions['onEvent'];
  readonly #outlet: Outlet<ActivityEvent>;

  constructor({ bus, log, onEvent }: ActivityFeedOptions) {
    this.#onEvent = onEvent;
    this.topic = bus.topic<ActivityEvent>(activityTopic);
    const { topic } = this;
    this.#outlet = new Outlet({ topic, what: 'events of the mesh', log, patienceMs: Infinity });
  }

  tell(type: string, agentId: string, data: Readonly<Record<string, unknown>>): void {
    this.#onEvent?.(type, data);
    const timestamp = new Date().toISOString();
    this.#outlet.tell({ eventId: newId('evt'), type, agentId, timestamp, data });
  }

  /** Resolves when what was told is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#outlet[Symbol.asyncDispose]();
  }
}
