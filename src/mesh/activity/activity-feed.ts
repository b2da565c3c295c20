import type { Bus, Topic } from '../../kit/bus/bus.ts';
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

/** While the bus takes nothing, more than this many events are not kept for it. */
const waitingMax = 10_000;

/** The events of the mesh, on a topic that every replica's streams read. */
export class ActivityFeed implements Activity, AsyncDisposable {
  readonly topic: Topic<ActivityEvent>;
  readonly #options: ActivityFeedOptions;
  readonly #waiting = new Set<Promise<void>>();
  #lostCount = 0;

  constructor(options: ActivityFeedOptions) {
    this.#options = options;
    this.topic = options.bus.topic<ActivityEvent>(activityTopic);
  }

  tell(type: string, agentId: string, data: Readonly<Record<string, unknown>>): void {
    this.#options.onEvent?.(type, data);
    if (this.#waiting.size >= waitingMax) {
      this.#noteLost('too many events wait for the bus');
      return;
    }
    const timestamp = new Date().toISOString();
    const event: ActivityEvent = { eventId: newId('evt'), type, agentId, timestamp, data };
    const told = this.#publish(event).finally(() => this.#waiting.delete(told));
    this.#waiting.add(told);
  }

  /** Resolves when what was told is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#waiting);
  }

  async #publish(event: ActivityEvent): Promise<void> {
    try {
      await this.topic.publish(event);
      this.#lostCount = 0;
    } catch (error) {
      this.#noteLost(error);
    }
  }

  /** The first of a row only: a bus that is away loses them all. */
  #noteLost(err: unknown): void {
    this.#lostCount += 1;
    if (this.#lostCount > 1) return;
    this.#options.log.warn({ err }, 'events of the mesh are lost until the bus takes them again');
  }
}
