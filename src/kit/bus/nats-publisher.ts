import { setTimeout as delay } from 'node:timers/promises';
import type { NatsLink } from './nats-link.ts';

export interface NatsPublisherOptions {
  readonly link: Pick<NatsLink, 'timeoutMs' | 'isConnected' | 'isClosed' | 'connectionCount'>;
  /** Sends an event once; what it throws is tried again. */
  readonly send: (payload: string, id: string) => Promise<number>;
  /** Names an event, so that the server knows a repetition. */
  readonly newId: () => string;
  /** What who published gets when time is up. */
  readonly toFault: (error: unknown) => Error;
}

interface Outgoing {
  readonly payload: string;
  readonly id: string;
  /** Its number in the order in which events were published. */
  readonly place: number;
  readonly deadline: number;
  readonly succeed: (seq: number) => void;
  readonly fail: (error: Error) => void;
  /** The connection that it was sent over. */
  connection: number;
  /** Whether the last attempt succeeded; never rejects. */
  attempt: Promise<boolean>;
  /** Why the last attempt failed; undefined when there was none. */
  error: unknown;
}

/** Why nothing is sent: the client would hoard it. */
export const disconnected = () => new Error('no connection to the NATS server');

/** Between two attempts. */
export const pauseMs = 100;
/** Of payloads that wait; in characters, of which hardly any takes more than a byte. */
const waitingLengthMax = 16 * 1024 * 1024;
/** So many of those that wait are sent without an answer to the first. */
const chunkSize = 100;

/**
 * Publishes the events of one topic in their order over a connection that may be lost: what was not taken
 * is sent again before anything that was published later, until it is taken or its time is up.
 */
export class NatsPublisher {
  readonly #options: NatsPublisherOptions;
  /** Sent and not answered, the first first. */
  readonly #underWay = new Set<Outgoing>();
  #waiting: Outgoing[] = [];
  /** Of the payloads that wait. */
  #waitingLength = 0;
  #count = 0;
  #isCatchingUp = false;

  constructor(options: NatsPublisherOptions) {
    this.#options = options;
  }

  /** Resolves with the seq; rejects once the event has waited for so long, or too many wait already. */
  publish(payload: string, patienceMs = this.#options.link.timeoutMs): Promise<number> {
    const { newId } = this.#options;
    this.#count += 1;
    return new Promise((succeed, fail) => {
      const event: Outgoing = {
        payload,
        id: newId(),
        place: this.#count,
        deadline: performance.now() + patienceMs,
        succeed,
        fail,
        connection: 0,
        attempt: Promise.resolve(false),
        error: undefined,
      };
      if (this.#isHeldUp()) this.#wait(event);
      else this.#send(event);
    });
  }

  /** Whether what was published before may have to be sent again. */
  #isHeldUp(): boolean {
    const { link } = this.#options;
    if (this.#isCatchingUp || !link.isConnected()) return true;
    const [first] = this.#underWay;
    return first !== undefined && first.connection !== link.connectionCount();
  }

  #send(event: Outgoing): void {
    event.connection = this.#options.link.connectionCount();
    this.#underWay.add(event);
    event.attempt = this.#attempt(event);
  }

  /** False when the event waits for another attempt. */
  async #attempt(event: Outgoing): Promise<boolean> {
    try {
      event.succeed(await this.#options.send(event.payload, event.id));
      return true;
    } catch (error) {
      event.error = error;
      this.#wait(event);
      return false;
    } finally {
      this.#underWay.delete(event);
    }
  }

  #wait(event: Outgoing): void {
    if (this.#waitingLength + event.payload.length > waitingLengthMax) {
      return event.fail(this.#options.toFault(new Error('too many events wait for the server')));
    }
    this.#waiting.push(event);
    this.#waitingLength += event.payload.length;
    if (!this.#isCatchingUp) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    this.#isCatchingUp = true;
    while (this.#waiting.length > 0) {
      // What was sent before may still fail, and comes first then.
      await this.#settle();
      const isTaken = await this.#sendNext();
      this.#giveUp();
      if (!isTaken) await delay(pauseMs);
    }
    this.#isCatchingUp = false;
  }

  async #settle(): Promise<void> {
    await Promise.all([...this.#underWay].map(({ attempt }) => attempt));
  }

  /** Whether the server took all that were sent. */
  async #sendNext(): Promise<boolean> {
    if (!this.#options.link.isConnected()) return false;
    this.#waiting.sort((a, b) => a.place - b.place);
    const next = this.#waiting.splice(0, chunkSize);
    for (const event of next) {
      this.#waitingLength -= event.payload.length;
      this.#send(event);
    }
    const taken = await Promise.all(next.map(({ attempt }) => attempt));
    return taken.every(Boolean);
  }

  /** Tells those whose time is up. */
  #giveUp(): void {
    const { link, toFault } = this.#options;
    const isHopeless = ({ deadline }: Outgoing) =>
      link.isClosed() || performance.now() + pauseMs > deadline;
    const hopeless = this.#waiting.filter(isHopeless);
    if (hopeless.length === 0) return;
    this.#waiting = this.#waiting.filter((event) => !isHopeless(event));
    for (const event of hopeless) {
      this.#waitingLength -= event.payload.length;
      event.fail(toFault(event.error ?? disconnected()));
    }
  }
}
