import type { Bus, BusEvent, Subscription } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';
import type { Cause, Firings } from './firings.ts';
import { compileMapping, type Mapping } from './mapping.ts';
import { listEventTriggers, type TriggerSql } from './trigger-store.ts';
import { eventTopics, type Trigger } from './trigger.ts';

export interface EventListenerOptions {
  readonly sql: TriggerSql;
  readonly bus: Pick<Bus, 'topic'>;
  readonly firings: Firings;
  readonly log: Log;
}

interface Listening {
  readonly trigger: Trigger;
  readonly mapping: Mapping;
}

const refreshEveryMs = 30_000;
/** Of one trigger: a workflow that causes the very event it waits for must not run away. */
const rate = { perMinute: 60, burst: 60 };
/** Of one trigger: how many of the events that are passed over are written down. */
const skippedRate = rate;
/** Of one trigger and message: a flood of events must not become one of log lines. */
const warningRate = { perMinute: 1, burst: 1 };
/** Events that are being handled; what comes then is lost, which bounds memory. */
const handlingMax = 1_000;

/**
 * Starts workflows by what happens in the suite. All replicas hear each event, and its place on the
 * bus is the firing's key, so that it fires once. Events while no replica runs are missed.
 */
export class EventListener implements AsyncDisposable {
  readonly #options: EventListenerOptions;
  readonly #limiter = new RateLimiter(rate);
  readonly #skippedLimiter = new RateLimiter(skippedRate);
  readonly #warningLimiter = new RateLimiter(warningRate);
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #handling = new Set<Promise<void>>();
  #byTopic: ReadonlyMap<string, readonly Listening[]> = new Map();
  #refreshing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: EventListenerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.refresh(), refreshEveryMs).unref();
    await this.refresh();
  }

  /** Reads the triggers anew; never rejects. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh());
    return this.#refreshing;
  }

  /** Resolves once what was heard has been handled. */
  async settle(): Promise<void> {
    while (this.#handling.size > 0) await Promise.all(this.#handling);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#refreshing;
    for (const subscription of this.#subscriptions.values()) await subscription.close();
    await this.settle();
  }

  async #refresh(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const byTopic = new Map<string, Listening[]>();
      for (const trigger of await listEventTriggers(this.#options.sql)) this.#add(byTopic, trigger);
      this.#byTopic = byTopic;
      for (const topic of byTopic.keys()) await this.#subscribe(topic);
    } catch (err) {
      this.#options.log.warn({ err }, 'the triggers of events could not be read');
    }
  }

  #add(byTopic: Map<string, Listening[]>, trigger: Trigger): void {
    const { topic = '' } = trigger.settings;
    try {
      const listening = { trigger, mapping: compileMapping('event', trigger.settings) };
      byTopic.set(topic, [...(byTopic.get(topic) ?? []), listening]);
    } catch (err) {
      this.#options.log.warn({ err, triggerId: trigger.id }, 'a trigger cannot be read any more');
    }
  }

  async #subscribe(topic: string): Promise<void> {
    const known = eventTopics[topic];
    if (!known || this.#subscriptions.has(topic)) return;
    const bus = this.#options.bus.topic<unknown>(known.busTopic);
    const subscription = await bus.subscribe((event) => this.#hear(topic, event));
    this.#subscriptions.set(topic, subscription);
  }

  #hear(topic: string, event: BusEvent<unknown>): void {
    for (const listening of this.#byTopic.get(topic) ?? []) {
      const { id: triggerId } = listening.trigger;
      if (this.#handling.size >= handlingMax) {
        this.#warn({ triggerId }, 'more events than can be handled: some are lost');
        continue;
      }
      const handling: Promise<void> = this.#handle(topic, event, listening)
        .catch((err: unknown) =>
          this.#warn({ err, triggerId }, 'an event could not fire a trigger'),
        )
        .finally(() => this.#handling.delete(handling));
      this.#handling.add(handling);
    }
  }

  async #handle(
    topic: string,
    { seq, data, publishedAt }: BusEvent<unknown>,
    { trigger, mapping }: Listening,
  ): Promise<void> {
    const { firings } = this.#options;
    const source = { event: { topic, at: new Date(publishedAt).toISOString(), data } };
    // Out of the publisher's way.
    await Promise.resolve();
    const key = `${topic}:${seq}`;
    const { inputs, error } = inputsOf(mapping, source);
    if (!inputs && error === undefined) return;
    const { isAllowed } = this.#limiter.take(trigger.id);
    if (!inputs) {
      // A filter that no event fits must not fill the table.
      if (isAllowed) await firings.failAtOnce(trigger, key, error ?? '');
      return;
    }
    if (!isAllowed) return this.#passOver(trigger, { key, inputs });
    const firing = await firings.fireEvent(trigger, { key, inputs });
    if (firing) await firings.begin(trigger, firing);
  }

  async #passOver(trigger: Trigger, cause: Cause): Promise<void> {
    const { firings } = this.#options;
    this.#warn({ triggerId: trigger.id }, 'a trigger fires too often: events are passed over');
    if (!this.#skippedLimiter.take(trigger.id).isAllowed) return;
    const firing = await firings.fireEvent(trigger, cause);
    if (firing)
      await firings.skip(firing, `events start it ${rate.perMinute} times a minute at most`);
  }

  #warn(facts: { readonly triggerId: string; readonly err?: unknown }, message: string): void {
    const { isAllowed } = this.#warningLimiter.take(`${facts.triggerId} ${message}`);
    if (isAllowed) this.#options.log.warn(facts, message);
  }
}

/** What an event makes of the inputs; `error` where that cannot be worked out, neither where it is kept out. */
function inputsOf(
  mapping: Mapping,
  source: Readonly<Record<string, unknown>>,
): {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly error?: string;
} {
  try {
    return mapping.isWanted(source) ? { inputs: mapping.inputsOf(source) } : {};
  } catch (error) {
    return { error: Fault.from(error).message };
  }
}
