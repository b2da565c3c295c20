import type { Bus, Subscription, Topic } from '../../../kit/bus/bus.ts';
import type { Log } from '../../../kit/log.ts';

/** What replicas tell each other about executions, so that they need not find it in the database. */
export interface Notice {
  readonly kind: 'cancelled' | 'signalled';
  readonly executionId: string;
}

/** The replicas' common topic. What is lost on it is found in the database, only later. */
export class Notices {
  readonly #topic: Topic<Notice>;
  readonly #log: Log;
  readonly #hear: (notice: Notice) => void;
  #subscription: Subscription | undefined;

  constructor(bus: Bus, log: Log, hear: (notice: Notice) => void) {
    this.#topic = bus.topic<Notice>('workflow.executions');
    this.#log = log;
    this.#hear = hear;
  }

  async open(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#hear(data));
  }

  /** Never rejects. */
  async tell(notice: Notice): Promise<void> {
    try {
      await this.#topic.publish(notice);
    } catch (error) {
      this.#log.warn({ err: error }, 'other replicas could not be told of an execution');
    }
  }

  async close(): Promise<void> {
    await this.#subscription?.close();
  }
}
