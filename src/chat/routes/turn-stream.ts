import type { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { AnswerSink } from '../../kit/answers/pushed-answer.ts';
import { PushedAnswer } from '../../kit/answers/pushed-answer.ts';
import { describeFault } from '../envelope.ts';
import { ChunkWriter, doneFrame } from '../turns/chunks.ts';
import type { Turn } from '../turns/turn.ts';
import { faultOf, readTooSlowly } from '../turns/turn-faults.ts';
import { requirePlace, type TurnFeed } from '../turns/turn-feed.ts';
import type { FeedHolder } from '../turns/turn-feeds.ts';

export interface TurnStreamOptions {
  readonly turn: Turn;
  /** The last event that the reader has. */
  readonly after: number;
  readonly feeds: FeedHolder;
  /** The reader has gone, or the server stops. */
  readonly cancellation: Cancellation;
  /** How long a reader may read nothing, and the answer say nothing; both end or stir the stream. */
  readonly stalledMs?: number;
  readonly heartbeatMs?: number;
}

const stalledMsDefault = 30_000;
const heartbeatMsDefault = 15_000;

/** A turn as server-sent events: a refusal before its first word is an ordinary refusal. */
export function streamTurn(options: TurnStreamOptions): PushedAnswer {
  return new PushedAnswer('text/event-stream; charset=utf-8', async (sink) => {
    using held = await options.feeds.hold(options.turn);
    requirePlace(held.feed, options.after);
    await new TurnStream(sink, held.feed, options).written;
  });
}

/** A reader's place in a feed: however slow it reads, nothing is kept for it but that. */
class TurnStream {
  /** Settles when the reader has all, or no longer reads. */
  readonly written: Promise<void>;
  readonly #sink: AnswerSink;
  readonly #feed: TurnFeed;
  readonly #writer: ChunkWriter;
  readonly #options: TurnStreamOptions;
  readonly #heartbeat: NodeJS.Timeout;
  #settle: (fault?: Fault) => void = () => {};
  #detach: () => void = () => {};
  #last: number;
  #isAwake = false;
  #isBlocked = false;
  #isOver = false;

  constructor(sink: AnswerSink, feed: TurnFeed, options: TurnStreamOptions) {
    const { turn, after, cancellation, heartbeatMs = heartbeatMsDefault } = options;
    this.#sink = sink;
    this.#feed = feed;
    this.#options = options;
    this.#last = after;
    this.#writer = new ChunkWriter(turn, { isFirst: after === 0 });
    const begun = feed.log.begunAt(after);
    if (begun) this.#writer.answer({ messageId: begun.messageId, model: begun.model });
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.written = new Promise((resolve, reject) => {
      this.#settle = (fault) => (fault ? reject(fault) : resolve());
    });
    this.#detach = feed.attach(() => this.#stir());
    cancellation.onCancel(this.#leave);
    this.#writeAll();
  }

  /** What comes in one go is written in one go. */
  #stir(): void {
    if (this.#isAwake || this.#isBlocked) return;
    this.#isAwake = true;
    queueMicrotask(() => {
      this.#isAwake = false;
      this.#writeAll();
    });
  }

  #writeAll(): void {
    if (this.#isOver || this.#isBlocked) return;
    const events = this.#feed.log.since(this.#last);
    let text = '';
    for (const event of events) {
      if (event.type === 'failed') return this.#fail(faultOf(event), { seq: event.seq, text });
      text += this.#writer.write(event);
      this.#last = event.seq;
    }
    // The answer's beginning alone settles no status: the gateway may refuse it still.
    if (text !== '') this.#write(text);
    if (!this.#feed.isOver) return;
    if (events.length > 0) return this.#finish();
    const { last: end } = this.#feed.log;
    if (end?.type === 'failed') return this.#fail(faultOf(end), { seq: end.seq });
    this.#write(doneFrame);
    this.#finish();
  }

  /** Tells an error behind the text that was still to be written. */
  #fail(fault: Fault, { seq, text = '' }: { readonly seq: number; readonly text?: string }): void {
    if (this.#isOver) return;
    if (!this.#sink.isBegun && text === '') return this.#finish(fault);
    const { id } = this.#options.turn;
    const body = JSON.stringify(errorOf(fault));
    // The last of it: nobody waits until it is read.
    this.#sink.write(`${text}id: ${id}:${seq}\ndata: ${body}\n\n`);
    this.#finish();
  }

  #write(text: string): void {
    if (!this.#sink.write(text)) void this.#waitForReader();
  }

  async #waitForReader(): Promise<void> {
    this.#isBlocked = true;
    const { stalledMs = stalledMsDefault } = this.#options;
    const timer = setTimeout(() => this.#breakOff(readTooSlowly()), stalledMs);
    await this.#sink.drained();
    clearTimeout(timer);
    this.#isBlocked = false;
    this.#writeAll();
  }

  /** Keeps the connection open, and tells those who wait long for the first word that it is accepted. */
  #beat(): void {
    if (!this.#isBlocked && !this.#isOver) this.#write(': keep-alive\n\n');
  }

  readonly #leave = (): void => {
    const fault = Fault.from(this.#options.cancellation.reason);
    if (fault.code === 'cancelled') this.#finish();
    else this.#breakOff(fault);
  };

  /** The turn can be read from here again. */
  #breakOff(fault: Fault): void {
    this.#fail(fault, { seq: this.#last });
  }

  #finish(fault?: Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#heartbeat);
    this.#detach();
    this.#options.cancellation.offCancel(this.#leave);
    this.#settle(fault);
  }
}

/** A failure in mid-stream: chat's own envelope, with the words of OpenAI's for their clients. */
function errorOf(fault: Fault): object {
  const told = describeFault(fault) as Record<string, unknown>;
  const { message } = fault;
  const code = (fault.reason ?? fault.code).toUpperCase();
  return { ...told, error: { message, code, type: fault.code } };
}
