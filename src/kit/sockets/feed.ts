import type { BusEvent, Gap, Subscription, Topic } from '../bus/bus.ts';
import { Fault } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { SharedFrames } from './text-frames.ts';

export interface FeedOptions<T> {
  readonly topic: Topic<T>;
  /** What the reader gets of an event, without its `seq`; none when it wants nothing of it. */
  readonly toMessage: (event: BusEvent<T>) => object | undefined;
  /** Shared by the topic's readers, where `toMessage` gives all of them the same object. */
  readonly frames?: SharedFrames | undefined;
}

export interface FeedStart {
  /** The seq to start behind; the topic's newest when absent. */
  readonly after?: number | undefined;
  /** Tells the reader where it starts. */
  readonly ack?: boolean | undefined;
}

/**
 * One subscription's way from a topic to a connection. What is retained is read as fast as the
 * reader takes it: while it is slow the topic is let go of, and taken up behind the last event sent.
 * New events do not wait: those that a slow reader misses become a gap.
 */
export class Feed<T> {
  readonly #connection: Connection;
  readonly #options: FeedOptions<T>;
  /** The last event that was sent, kept back or given up. */
  #position = 0;
  /** Up to here events are a replay. */
  #replayEnd = 0;
  #missed: Gap | undefined;
  #subscription: Subscription | undefined;
  /** Counts the times that the topic was taken up or let go of, so that late events are known. */
  #turn = 0;
  #isClosed = false;

  constructor(connection: Connection, options: FeedOptions<T>) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Never rejects: a bus that is away closes the connection, so that its reader comes again. */
  async open({ after, ack }: FeedStart): Promise<void> {
    await this.#attempt(async () => {
      this.#position = after ?? (await this.#options.topic.lastSeq());
      if (ack) await this.#acknowledge();
      await this.#follow();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#letGo();
  }

  async #acknowledge(): Promise<void> {
    // A place that there is, whatever the reader says to have seen.
    const seq = Math.min(this.#position, await this.#options.topic.lastSeq());
    const message = { type: 'subscribed', seq };
    while (!this.#isClosed && !this.#connection.send(message)) await this.#connection.room();
  }

  async #follow(): Promise<void> {
    if (this.#isClosed) return;
    const { topic } = this.#options;
    const turn = ++this.#turn;
    const isCurrent = () => turn === this.#turn;
    const last = await topic.lastSeq();
    if (!isCurrent()) return;
    this.#replayEnd = last;
    const subscription = await topic.subscribe((event) => isCurrent() && this.#accept(event), {
      after: this.#position,
      onGap: (gap) => isCurrent() && this.#skip(gap),
    });
    if (isCurrent()) this.#subscription = subscription;
    else await subscription.close();
  }

  #letGo(): void {
    this.#turn += 1;
    void this.#subscription?.close();
    this.#subscription = undefined;
  }

  #accept(event: BusEvent<T>): void {
    const { seq } = event;
    const message = this.#options.toMessage(event);
    if (message && !this.#tell(message, seq)) {
      if (seq <= this.#replayEnd) {
        this.#letGo();
        void this.#resume();
        return;
      }
      this.#miss({ from: seq, to: seq });
    }
    this.#position = seq;
  }

  #skip(gap: Gap): void {
    if (!this.#send({ type: 'gap', ...gap })) this.#miss(gap);
    this.#position = gap.to;
  }

  #tell(message: object, seq: number): boolean {
    const { frames } = this.#options;
    if (!frames) return this.#send({ ...message, seq });
    return this.#tellMissed() && this.#connection.sendFrame(frames.of(message, seq));
  }

  /** False while the reader is slow, and until it knows what it missed. */
  #send(message: object): boolean {
    return this.#tellMissed() && this.#connection.send(message);
  }

  #tellMissed(): boolean {
    if (!this.#missed) return true;
    if (!this.#connection.send({ type: 'gap', ...this.#missed })) return false;
    this.#missed = undefined;
    return true;
  }

  #miss({ from, to }: Gap): void {
    if (!this.#missed)
      void this.#connection.room().then(() => this.#isClosed || this.#tellMissed());
    this.#missed = { from: this.#missed?.from ?? from, to };
  }

  async #resume(): Promise<void> {
    await this.#connection.room();
    if (this.#isClosed) return;
    this.#tellMissed();
    await this.#attempt(() => this.#follow());
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#isClosed) return;
      this.#connection.sendFault(Fault.from(error));
      this.#connection.close(1013, 'events cannot be read now');
    }
  }
}
