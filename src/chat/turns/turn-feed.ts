import type { TurnEvent } from './turn.ts';
import { turnNotFound } from './turn-faults.ts';
import {
  eventOf,
  isEnd,
  lostEndSeq,
  placeBefore,
  TurnLog,
  type LogEntry,
  type PieceType,
  type WholeEvent,
} from './turn-log.ts';

export type FeedListener = (event: TurnEvent) => void;

/** An event before it has its number. */
export type NewEvent = WholeEvent extends infer E
  ? E extends WholeEvent
    ? Omit<E, 'seq'>
    : never
  : never;

/** What this process knows of a turn's events, and who here reads them: readers are places in one log. */
export class TurnFeed {
  readonly log = new TurnLog();
  readonly #listeners = new Set<FeedListener>();
  #isOver = false;

  /** Nothing comes any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls at once for each new event; answers how to stop it. A listener must not throw. */
  attach(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A piece of text: the path that every token goes. */
  piece(type: PieceType, content: string): TurnEvent {
    const event: TurnEvent = { type, seq: this.log.addPiece(type, content), content };
    for (const listener of this.#listeners) listener(event);
    return event;
  }

  push(fields: NewEvent): TurnEvent {
    const event = numbered(fields, this.log.lastSeq + 1);
    this.log.add(event);
    this.#tell(event);
    return event;
  }

  /** Takes entries from elsewhere; false when some are missing before them. */
  take(entries: readonly LogEntry[]): boolean {
    for (const entry of entries) {
      const fresh = this.log.take(entry);
      if (fresh === 'gap') return false;
      if (fresh) this.#tell(eventOf(fresh));
    }
    return true;
  }

  #tell(event: TurnEvent): void {
    if (isEnd(event)) this.#isOver = true;
    for (const listener of this.#listeners) listener(event);
  }
}

/** An event with its number, which is the next one but for the end of a turn whose process died. */
export function numbered(fields: NewEvent, next: number): WholeEvent {
  const isOfLost = 'after' in fields && fields.after !== undefined;
  return { ...fields, seq: isOfLost ? lostEndSeq : next };
}

/**
 * The place from which a reader who was told up to `after` can read on here: what it was told behind
 * that is lost, or comes again. Throws `not_found` for a place behind the end.
 */
export function requirePlace({ log, isOver }: TurnFeed, after: number): number {
  const { last } = log;
  // A place that was told and never stored, because its process died, gets the failure.
  if (isOver && after > log.lastSeq && last?.type !== 'failed') throw turnNotFound();
  const end = last && isEnd(last) ? last : undefined;
  if (end?.after !== undefined) return Math.min(after, end.after);
  if (after <= log.lastSeq) return after;
  return end ? placeBefore(end) : log.lastSeq;
}

/** The events behind a number, then new ones until the turn is over or the signal aborts. */
export async function* readFeed(
  feed: TurnFeed,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  let last = after;
  let wake: (() => void) | undefined;
  const stir = () => wake?.();
  const detach = feed.attach(stir);
  signal.addEventListener('abort', stir);
  try {
    while (!signal.aborted) {
      for (const event of feed.log.since(last)) {
        last = event.seq;
        yield event;
        if (signal.aborted) return;
      }
      if (feed.log.lastSeq > last) continue;
      if (feed.isOver) {
        const { last: end } = feed.log;
        // Nobody was told the place, or it was lost: the reader has not had the end.
        if (end && isEnd(end) && last > end.seq) yield end;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal.aborted) resolve();
      });
    }
  } finally {
    detach();
    signal.removeEventListener('abort', stir);
  }
}
