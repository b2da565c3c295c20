import { readEvents } from '../../api/events.ts';
import { Refusal } from '../../api/refusal.ts';
import { onceOnly } from '../../api/request-key.ts';
import type { Chunk } from './live-turn.ts';

/** Begins a turn, or goes on reading one from its beginning. */
export type TurnStart =
  | { readonly ask: { readonly conversationId: string; readonly text: string } }
  | { readonly follow: string };

interface StreamEvent {
  readonly id?: string | undefined;
  readonly data: string;
}

/** Opens a stream: the turn's own, or behind a place of it. */
export type StreamOpener = (
  start: TurnStart,
  place: string | undefined,
  signal: AbortSignal,
) => AsyncIterable<StreamEvent>;

export interface TurnReaderOptions {
  readonly signal: AbortSignal;
  readonly open?: StreamOpener;
  /** How long to wait before a lost stream is resumed for the nth time in a row. */
  readonly delayMs?: (attempt: number) => number;
}

const attemptsMax = 8;
/** The stream was given up and not the turn. */
const givenUp: ReadonlySet<string | undefined> = new Set(['UNAVAILABLE', 'SLOW_READER']);

/**
 * Reads a turn to its end; a stream that is lost on the way is resumed where it was. Rejects with what the
 * service says of a failure.
 */
export async function* readTurn(
  start: TurnStart,
  options: TurnReaderOptions,
): AsyncGenerator<Chunk> {
  const { signal, open, delayMs } = { open: openStream, delayMs: backOff, ...options };
  let place = 'follow' in start ? `${start.follow}:0` : undefined;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const begin = place;
    try {
      for await (const { id, data } of open(start, place, signal)) {
        if (data === '[DONE]') return;
        place = id ?? place;
        yield readChunk(data);
      }
    } catch (error) {
      if (signal.aborted || !isLoss(error, place)) throw error;
    }
    // What was perhaps begun is not asked a second time.
    if (place === undefined) break;
    if (place !== begin) attempt = 0;
    await wait(delayMs(attempt), signal);
  }
  throw new Refusal(0, 'the connection to the answer is lost; it may still be written');
}

interface Failure {
  readonly error: { readonly message: string; readonly code: string };
}

function readChunk(data: string): Chunk {
  const event = JSON.parse(data) as Chunk | Failure;
  if (!('error' in event)) return event;
  throw new Refusal(200, event.error.message, event.error.code);
}

/** Whether a stream, and not its turn, has ended by it, and can be found again. */
function isLoss(error: unknown, place: string | undefined): boolean {
  if (place === undefined) return false;
  if (!(error instanceof Refusal)) return true;
  return error.status === 0 || error.code === 'unavailable' || givenUp.has(error.code);
}

function openStream(
  start: TurnStart,
  place: string | undefined,
  signal: AbortSignal,
): AsyncIterable<StreamEvent> {
  if (place !== undefined) {
    const query = { last_event_id: place };
    return readEvents('chat', 'GET /api/chat/stream', { query, signal });
  }
  if ('follow' in start) throw new TypeError('a turn that is followed has a place');
  const { conversationId, text } = start.ask;
  const messages = [{ role: 'user', content: text }];
  const body = { conversation_id: conversationId, messages };
  return readEvents('chat', 'POST /api/chat/stream', { body, headers: onceOnly(), signal });
}

function backOff(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 8_000);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('given up', 'AbortError'));
    });
  });
}
