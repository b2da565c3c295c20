import type { ServerEvent } from '../../kit/answers/sse.ts';
import type { AnswerEvent } from '../conversation/answer.ts';
import type { ChatRequest, Message } from '../conversation/request.ts';
import type { AnswerReader } from './dialect.ts';
import type { UpstreamFailure } from './failure.ts';
import { UpstreamError } from './upstream-error.ts';

/** A request that says no more than a test wants it to say. */
export function chatOf(said: Partial<ChatRequest> = {}): ChatRequest {
  return { model: 'm', messages: [ask('hi')], tools: [], isStream: false, extras: {}, ...said };
}

export function ask(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

/** All pieces that a reader finds in a stream whose events hold these values. */
export function readAll(reader: AnswerReader, values: readonly unknown[]): AnswerEvent[] {
  return values.flatMap((value) => reader.read(eventOf(value)));
}

export function eventOf(value: unknown): ServerEvent {
  return { data: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** The values as one chunk of server-sent events. */
export function framed(values: readonly unknown[]): Buffer {
  return Buffer.from(values.map((value) => `data: ${eventOf(value).data}\n\n`).join(''));
}

/** How an attempt fails; throws when it does not. */
export function failureOf(attempt: () => unknown): UpstreamFailure {
  try {
    attempt();
  } catch (error) {
    if (error instanceof UpstreamError) return error.failure;
    throw error;
  }
  throw new Error('nothing failed');
}

/** A `fetch` that answers every request with the same JSON and remembers what was sent last. */
export class SentRequest {
  url = '';
  body: unknown;
  readonly #answer: unknown;

  constructor(answer: unknown) {
    this.#answer = answer;
  }

  readonly fetch: typeof globalThis.fetch = (url, init) => {
    this.url = url instanceof Request ? url.url : url.toString();
    if (typeof init?.body !== 'string') throw new TypeError('the body is no text');
    this.body = JSON.parse(init.body);
    return Promise.resolve(Response.json(this.#answer));
  };
}
