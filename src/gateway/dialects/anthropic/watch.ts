import type { Usage } from '../../conversation/answer.ts';
import type { StreamWatch } from '../dialect.ts';
import { eventsIn } from '../reading-watch.ts';
import { isRecord, parsePiece, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { readUsage } from './answer.ts';
import { readStreamFailure } from './failure.ts';
import { mergeUsage } from './reader.ts';

/** Of `content_block_delta` and `message_delta`: the first of either is a piece or the end. */
const delta = Buffer.from('_delta');
/** Of `message_start`, `message_delta` and `message_stop`, whatever white space is around. */
const ofMessage = Buffer.from('message_');
/** Inside of a text its quotes would be escaped, so this is the type of an event, or its member. */
const error = Buffer.from('"error"');

/**
 * Parses only the chunks that may hold more than pieces of the answer. A text with such words in it
 * costs a parse and changes nothing.
 */
export class MessageWatch implements StreamWatch {
  #usage: Json = {};
  #isCounted = false;
  #isStarted = false;
  #isComplete = false;
  #isEnded = false;

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get usage(): Usage | undefined {
    return this.#isCounted ? readUsage(this.#usage) : undefined;
  }

  see(events: Buffer): void {
    if (events.includes(ofMessage) || events.includes(error)) this.#read(events.toString());
    if (!this.#isStarted && events.includes(delta)) this.#isStarted = true;
  }

  #read(text: string): void {
    for (const { data } of eventsIn(text)) {
      if (data.includes('message_') || data.includes('"error"')) this.#note(parsePiece(data));
    }
  }

  #note(event: Json): void {
    if (event.type === 'error') throw new UpstreamError(readStreamFailure(event));
    if (event.type === 'message_start') this.#count(recordIn(event.message).usage);
    else if (event.type === 'message_delta') this.#finish(event);
    else if (event.type === 'message_stop') this.#isEnded = true;
  }

  #finish(event: Json): void {
    this.#count(event.usage);
    const reason = recordIn(event.delta).stop_reason;
    if (textIn(reason) !== undefined) this.#isComplete = true;
  }

  #count(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#usage = mergeUsage(this.#usage, usage);
    this.#isCounted = true;
  }
}
