import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import { EventMarks } from './event-marks.ts';
import type { FetchInit, LinkFetch } from './link-fetch.ts';

/** How often in a row it comes back to a server that sends nothing new. */
const vainMax = 3;
const retryMsDefault = 1_000;
const retryMsMin = 50;
const retryMsMax = 30_000;
/** From this revision on nothing is resumed. */
const firstModernVersion = '2026-07-28';
/** What was cut off in the middle of an event is none. */
const boundary = new TextEncoder().encode('\n\n');

interface Resuming {
  readonly url: string | URL;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

type Events = ReadableStream<Uint8Array>;

/**
 * `fetch` in which the events of a legacy server go on where they ended, when they have ids: it may
 * close a stream before the answer and wait to be asked for the rest (MCP 2025-11-25, Streamable HTTP,
 * resumability). The one who waits bounds the time.
 */
export class ResumingFetch {
  readonly #fetch: LinkFetch;
  readonly #settled = new WeakSet<AbortSignal>();

  constructor(linkFetch: LinkFetch) {
    this.#fetch = linkFetch;
  }

  /** The request with this signal wants no more. */
  settle(signal: AbortSignal): void {
    this.#settled.add(signal);
  }

  async fetch(url: string | URL, init: FetchInit = {}): Promise<Response> {
    const answer = await this.#fetch.fetch(url, init);
    const headers = new Headers(init.headers);
    const version = headers.get('mcp-protocol-version') ?? firstModernVersion;
    const { signal } = init;
    const isLegacyCall = init.method === 'POST' && version < firstModernVersion;
    if (!isLegacyCall || !signal || !answer.body || !hasEvents(answer)) return answer;
    headers.set('accept', 'text/event-stream');
    headers.delete('content-type');
    const events = this.#events(answer.body, { url, headers, signal });
    const { status, headers: answered } = answer;
    return new Response(toStream(events), { status, headers: answered });
  }

  /** What ends it without the answer is told by `LinkFetch.failureOf`, or is a cut-off. */
  async *#events(first: Events, resuming: Resuming): AsyncGenerator<Uint8Array> {
    const marks = new EventMarks();
    let body: Events | undefined = first;
    let vain = 0;
    for (;;) {
      const before = marks.lastEventId;
      const failure: unknown = body ? yield* passOn(body, marks) : undefined;
      vain = marks.lastEventId === before ? vain + 1 : 0;
      if (marks.lastEventId === undefined || isFinal(failure) || vain === vainMax) return;
      if (!(await this.#isWanted(marks, resuming))) return;
      const answer = await this.#resume(marks.lastEventId, resuming);
      if (answer === 'refused') return;
      body = answer;
      marks.breakOff();
      yield boundary;
    }
  }

  /** Whether the answer is still waited for when it is time to come back. */
  async #isWanted(
    { retryMs = retryMsDefault }: EventMarks,
    { signal }: Resuming,
  ): Promise<boolean> {
    // Whoever reads the events may be behind.
    await sleep(0, undefined, { ref: false });
    if (this.#settled.has(signal)) return false;
    const delayMs = Math.min(Math.max(retryMs, retryMsMin), retryMsMax);
    await sleep(delayMs, undefined, { signal, ref: false }).catch(() => {});
    return !signal.aborted && !this.#settled.has(signal);
  }

  /** The events behind the last one; undefined when the server may answer the next time. */
  async #resume(
    lastEventId: string,
    { url, headers: given, signal }: Resuming,
  ): Promise<Events | 'refused' | undefined> {
    const headers = new Headers(given);
    headers.set('last-event-id', lastEventId);
    try {
      const answer = await this.#fetch.fetch(url, { method: 'GET', headers, signal });
      if (answer.ok && answer.body && hasEvents(answer)) return answer.body;
      await answer.body?.cancel();
      return answer.status < 500 ? 'refused' : undefined;
    } catch (error) {
      return Fault.from(error).reason === 'unreachable' ? undefined : 'refused';
    }
  }
}

/** Passes on what comes and answers why it ended, when that was no proper end. */
async function* passOn(body: Events, marks: EventMarks): AsyncGenerator<Uint8Array, unknown> {
  try {
    for await (const chunk of body) {
      marks.push(chunk);
      yield chunk;
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Whether coming back would end in the same. */
function isFinal(failure: unknown): boolean {
  return failure !== undefined && Fault.from(failure).reason !== 'answer_cut_off';
}

function hasEvents({ headers }: Response): boolean {
  return /^\s*text\/event-stream/i.test(headers.get('content-type') ?? '');
}

function toStream(chunks: AsyncGenerator<Uint8Array>): Events {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}
