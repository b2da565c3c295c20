import type { Readable } from 'node:stream';
import { Fault } from '../../kit/errors.ts';
import { answerCutOff, answerTooLarge } from './link-faults.ts';
import type { WireAnswer } from './wire.ts';

export interface BodyBound {
  /** Of the whole body; of one event where the body is a stream of server-sent events. */
  readonly bytesMax: number;
  /** Ends the request when its body is too large or nobody wants the rest. */
  readonly stop: AbortController;
  /** Called once, when the body was read to its end, failed or was given up. */
  readonly onEnd: (failure?: Error) => void;
}

const noBodyStatuses: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * The answer with a body that is counted while it comes. One of JSON has come as a whole, since a
 * stream of one text costs more than all else about it; rejects then with what a stream would fail with.
 */
export async function boundBody(answer: WireAnswer, bound: BodyBound): Promise<Response> {
  const { status, headers, body } = answer;
  const init = { status, headers };
  if (noBodyStatuses.has(status)) {
    body.on('error', () => {}).resume();
    bound.onEnd();
    return new Response(null, init);
  }
  if (isJson(answer)) return new Response(await readText(body, bound), init);
  const isEvents = /^\s*text\/event-stream/i.test(headers.get('content-type') ?? '');
  return new Response(countedStream(body, bound, isEvents), init);
}

/** Whether it is one text with all that is answered, and no stream. */
export function isJson({ headers }: Pick<WireAnswer, 'headers'>): boolean {
  return /^\s*application\/json/i.test(headers.get('content-type') ?? '');
}

async function readText(body: Readable, { bytesMax, stop, onEnd }: BodyBound): Promise<string> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      byteCount += chunk.length;
      if (byteCount > bytesMax) throw answerTooLarge(bytesMax);
      chunks.push(chunk);
    }
  } catch (error) {
    const failure = failureOf(error, stop);
    onEnd(failure);
    throw failure;
  }
  onEnd();
  return Buffer.concat(chunks, byteCount).toString();
}

function countedStream(body: Readable, bound: BodyBound, isEvents: boolean) {
  const { bytesMax, stop, onEnd } = bound;
  const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  let byteCount = 0;
  let isGivenUp = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done === true || !(value instanceof Uint8Array)) {
          onEnd();
          controller.close();
          return;
        }
        byteCount = isEvents ? countEvent(byteCount, value) : byteCount + value.length;
        if (byteCount > bytesMax) throw answerTooLarge(bytesMax);
        controller.enqueue(value);
      } catch (error) {
        if (isGivenUp) return;
        const failure = failureOf(error, stop);
        onEnd(failure);
        controller.error(failure);
        stop.abort();
      }
    },
    cancel() {
      isGivenUp = true;
      onEnd();
      body.on('error', () => {}).destroy();
      stop.abort();
    },
  });
}

/** Bytes since the last end of an event that lies within a chunk. */
function countEvent(before: number, chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const end = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'));
  return end < 0 ? before + bytes.length : bytes.length - end;
}

/** Why the request was ended tells more than that it was. */
function failureOf(error: unknown, { signal }: AbortController): Error {
  if (signal.aborted && signal.reason instanceof Error) return signal.reason;
  return error instanceof Fault ? error : answerCutOff(error);
}
