import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { BusEvent, Topic } from '../bus/bus.ts';
import { Fault } from '../errors.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { findFlaws } from '../schema-flaws.ts';
import type { Connection } from './connection.ts';
import { Feed } from './feed.ts';
import type { SharedFrames } from './text-frames.ts';

/** What every subscribe message may hold; a contract adds its own fields to these. */
export const subscribeFields = {
  action: Type.Literal('subscribe'),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'the last `seq` that was seen: retained events after it come first',
    }),
  ),
  ack: Type.Optional(Type.Boolean({ description: 'asks for `{type: "subscribed", seq}`' })),
};

const subscribeMessage = Type.Object(subscribeFields);
type SubscribeMessage = Static<typeof subscribeMessage>;

export interface SubscriptionOptions<T, S extends TSchema> {
  readonly topic: Topic<T>;
  /** The stream's own subscribe message; absent when it has no fields of its own. */
  readonly subscribe?: S;
  /** Begins without a message, behind `after` or with what is new. A message can still replace it. */
  readonly immediate?: { readonly after?: number | undefined };
  /** Which events a subscription wants; all when absent. */
  readonly filter?: (message: Static<S>) => (data: T) => boolean;
  /** An event as it goes over the wire, without its `seq`; none keeps it back. */
  readonly toMessage: (event: BusEvent<T>) => object | undefined;
  /** Shared by the topic's readers, where `toMessage` gives all of them the same object. */
  readonly frames?: SharedFrames | undefined;
}

const malformedMax = 3;

/**
 * Serves the suite's stream protocol on a connection: `{action: 'subscribe'}` starts events or
 * replaces those that run, each with its `seq`. A reader that is too slow for new events gets
 * `{type: 'gap', from, to}` instead; a replay waits for it. The third malformed message closes with
 * 1007, a bus that is away with 1013.
 */
export function serveSubscription<T, S extends TSchema>(
  connection: Connection,
  options: SubscriptionOptions<T, S>,
): void {
  const stream = new Stream(connection, options);
  connection.onMessage((text) => stream.receive(text));
  connection.signal.addEventListener('abort', () => stream.close(), { once: true });
  if (options.immediate) void stream.begin(options.immediate);
}

class Stream<T, S extends TSchema> {
  readonly #connection: Connection;
  readonly #options: SubscriptionOptions<T, S>;
  readonly #messages: SubscribeMessages;
  #feed: Feed<T> | undefined;

  constructor(connection: Connection, options: SubscriptionOptions<T, S>) {
    this.#connection = connection;
    this.#options = options;
    this.#messages = new SubscribeMessages(connection, options.subscribe);
  }

  async receive(text: string): Promise<void> {
    const message = this.#messages.read(text);
    if (message) await this.#subscribe(message);
  }

  async begin({ after }: { readonly after?: number | undefined }): Promise<void> {
    await this.#subscribe({ action: 'subscribe', ...(after === undefined ? {} : { after }) });
  }

  close(): void {
    this.#feed?.close();
  }

  async #subscribe(message: SubscribeMessage): Promise<void> {
    const { topic, filter, toMessage, frames } = this.#options;
    // The stream's own schema was checked too; where it has none, S says nothing.
    const matches = filter?.(message as Static<S>) ?? (() => true);
    this.#feed?.close();
    this.#feed = new Feed(this.#connection, {
      topic,
      toMessage: (event) => (matches(event.data) ? toMessage(event) : undefined),
      frames,
    });
    await this.#feed.open(message);
  }
}

/** Reads the subscribe messages of one connection; the third malformed one closes it with 1007. */
export class SubscribeMessages {
  readonly #connection: Pick<Connection, 'sendFault' | 'close'>;
  readonly #own: TSchema | undefined;
  #malformedCount = 0;

  /** `own` is the stream's own schema, where its messages have fields of their own. */
  constructor(connection: Pick<Connection, 'sendFault' | 'close'>, own?: TSchema) {
    this.#connection = connection;
    this.#own = own;
  }

  /** Undefined for a malformed one, which the reader has been told. */
  read(text: string): SubscribeMessage | undefined {
    try {
      const message: unknown = parseJsonBody(text);
      const base = checkMessage(subscribeMessage, message);
      if (this.#own) checkMessage(this.#own, message);
      return base;
    } catch (error) {
      this.#noteMalformed(Fault.from(error));
      return undefined;
    }
  }

  #noteMalformed(fault: Fault): void {
    this.#malformedCount += 1;
    this.#connection.sendFault(fault);
    if (this.#malformedCount < malformedMax) return;
    this.#connection.close(1007, `${malformedMax} malformed messages`);
  }
}

/** A message that is as its schema says; throws `invalid` (`validation_error`) with the place otherwise. */
export function checkMessage<S extends TSchema>(schema: S, message: unknown): Static<S> {
  if (Value.Check(schema, message)) return message;
  const [flaw] = findFlaws(Value.Errors(schema, message), schema);
  const place = `message${flaw?.place.replaceAll('/', '.') ?? ''}`;
  throw new Fault('invalid', `${place} ${flaw?.message ?? 'is not valid'}`, {
    reason: 'validation_error',
  });
}
