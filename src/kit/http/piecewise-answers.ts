import { Fault } from '../errors.ts';
import { formatLine, JsonLines } from '../answers/json-lines.ts';
import { PushedAnswer, ResponseSink } from '../answers/pushed-answer.ts';
import { EventStream, writeEvents } from '../answers/sse.ts';
import { openSource, writeSource } from '../answers/streamed-answer.ts';
import type { Call } from './call.ts';
import type { Edge } from './edge.ts';
import type { EdgeReply } from './exchange.ts';

/** Where an answer goes that comes piece by piece. */
export interface PiecewiseExit {
  readonly reply: EdgeReply;
  readonly call: Call;
  /** Writes the head, which goes out with the first piece. */
  readonly begin: (head: Readonly<Record<string, string>>) => void;
}

/** Sends the answers that come piece by piece, each in its own form. */
export class PiecewiseAnswers {
  readonly #edge: Edge;

  constructor(edge: Edge) {
    this.#edge = edge;
  }

  /** Undefined where the answer is none of these; rejects with what fails before the head is written. */
  send(answer: unknown, exit: PiecewiseExit): Promise<void> | undefined {
    if (answer instanceof EventStream) return this.#sendEvents(answer, exit);
    if (answer instanceof JsonLines) return this.#sendLines(answer, exit);
    if (answer instanceof PushedAnswer) return this.#sendPushed(answer, exit);
    return undefined;
  }

  async #sendEvents({ events, isLive }: EventStream, exit: PiecewiseExit): Promise<void> {
    const opened = isLive ? { iterator: events[Symbol.asyncIterator]() } : await openSource(events);
    exit.begin(headOf('text/event-stream; charset=utf-8'));
    if (isLive) exit.reply.raw.flushHeaders();
    await writeEvents(exit.reply.raw, opened, {
      signal: exit.call.signal,
      eventOf: (error) => ({ data: JSON.stringify(this.#failureOf(error, exit)) }),
    });
  }

  async #sendLines({ values }: JsonLines, exit: PiecewiseExit): Promise<void> {
    const opened = await openSource(values);
    exit.begin(headOf('application/x-ndjson'));
    await writeSource(exit.reply.raw, opened, {
      signal: exit.call.signal,
      format: formatLine,
      formatFailure: (error) => formatLine(this.#failureOf(error, exit)),
    });
  }

  /** What fails before the head is sent is an ordinary refusal; after it, the handler has said so. */
  async #sendPushed(answer: PushedAnswer, { reply, begin }: PiecewiseExit): Promise<void> {
    const sink = new ResponseSink(reply.raw, () => begin(headOf(answer.mediaType)));
    try {
      await answer.push(sink);
    } catch (error) {
      if (!sink.isBegun) throw error;
      this.#edge.faults.record(Fault.from(error), this.#edge.contextOf(reply.request));
    } finally {
      sink.end();
    }
  }

  /** The refusal of a stream whose head has been sent, recorded. */
  #failureOf(error: unknown, { reply }: PiecewiseExit): unknown {
    const context = this.#edge.contextOf(reply.request);
    const fault = Fault.from(error);
    this.#edge.faults.record(fault, context);
    return this.#edge.faults.body(fault, context);
  }
}

function headOf(mediaType: string): Readonly<Record<string, string>> {
  return {
    'content-type': mediaType,
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
}
