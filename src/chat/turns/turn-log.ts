import { addUsage, type Usage } from '../conversations/conversation.ts';
import type { TurnEvent } from './turn.ts';

export type PieceType = 'delta' | 'reasoning';

/** Pieces of text behind one another, each with a number of its own; `seq` is the first one's. */
export interface PieceRun {
  readonly type: PieceType;
  readonly seq: number;
  readonly pieces: readonly string[];
}

/** An event that is no piece of text. */
export type WholeEvent = Exclude<TurnEvent, { readonly type: PieceType }>;

/** Events as they are kept, stored and told to other replicas: any place in them can be found again. */
export type LogEntry = PieceRun | WholeEvent;

type OpenRun = PieceRun & { readonly pieces: string[] };

/**
 * The number of the end of a turn whose process died. How far that one had told is not known: this is
 * behind all of it, because no turn comes to so many events.
 */
export const lostEndSeq = 999_999_999;

/** Of a piece of text: a few have room in one event of the bus. */
export const pieceCharsMax = 16 * 1024;
/** Short enough that cutting one costs nothing. */
const runPiecesMax = 128;

/** All events of a turn in their order, from 1. */
export class TurnLog {
  readonly #entries: LogEntry[] = [];
  /** The run at the end, while it takes more. */
  #open: OpenRun | undefined;
  #lastSeq = 0;

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get last(): LogEntry | undefined {
    return this.#entries.at(-1);
  }

  /** Adds a piece of text and answers its number. */
  addPiece(type: PieceType, content: string): number {
    this.#lastSeq += 1;
    let run = this.#open;
    if (!run || run.type !== type || run.pieces.length >= runPiecesMax) {
      run = { type, seq: this.#lastSeq, pieces: [] };
      this.#open = run;
      this.#entries.push(run);
    }
    run.pieces.push(content);
    return this.#lastSeq;
  }

  /** Adds an event that comes next; what it says is lost goes. */
  add(event: WholeEvent): void {
    this.#forgetBehind(placeBefore(event));
    this.#lastSeq = event.seq;
    this.#open = undefined;
    this.#entries.push(event);
  }

  /**
   * Adds what is new of an entry that comes from elsewhere, and answers it; undefined when nothing is
   * new, `gap` when something in between is missing.
   */
  take(entry: LogEntry): LogEntry | undefined | 'gap' {
    if (placeBefore(entry) > this.#lastSeq) return 'gap';
    const fresh = cutBefore(entry, this.#lastSeq + 1);
    if (!fresh) return undefined;
    if (!isRun(fresh)) this.add(fresh);
    else for (const piece of fresh.pieces) this.addPiece(fresh.type, piece);
    return fresh;
  }

  /** What stands behind a number, with nothing joined. */
  entriesSince(after: number): LogEntry[] {
    if (after >= this.#lastSeq) return [];
    let first = this.#entries.length;
    while (first > 0 && lastSeqOf(this.#entries[first - 1]) > after) first -= 1;
    return this.#entries.slice(first).flatMap((entry) => cutBefore(entry, after + 1) ?? []);
  }

  /** The same as events, each run joined to one. */
  since(after: number): TurnEvent[] {
    return this.entriesSince(after).map(eventOf);
  }

  /** Of the answers that call tools, as far as it is known. */
  get usageOfCalls(): Usage | undefined {
    let sum: Usage | undefined;
    for (const entry of this.#entries) {
      if (entry.type === 'tool-call') sum = addUsage(sum, entry.usage);
    }
    return sum;
  }

  /** The answer that was being written when this number came. */
  begunAt(seq: number): Extract<TurnEvent, { type: 'begun' }> | undefined {
    let found: Extract<TurnEvent, { type: 'begun' }> | undefined;
    for (const entry of this.#entries) {
      if (entry.seq > seq) break;
      if (entry.type === 'begun') found = entry;
    }
    return found;
  }

  #forgetBehind(place: number): void {
    for (let last = this.last; last && lastSeqOf(last) > place; last = this.last) {
      this.#entries.pop();
      if (!isRun(last) || last.seq > place) continue;
      this.#entries.push({ ...last, pieces: last.pieces.slice(0, place - last.seq + 1) });
    }
  }
}

/** The event that says the same as an entry. */
export function eventOf(entry: LogEntry): TurnEvent {
  if (!isRun(entry)) return entry;
  const { type, pieces } = entry;
  return {
    type,
    seq: lastSeqOf(entry),
    content: pieces.length === 1 ? (pieces[0] ?? '') : pieces.join(''),
  };
}

/** Whether nothing comes behind it. */
export function isEnd(
  entry: LogEntry | TurnEvent,
): entry is Extract<TurnEvent, { type: 'ended' | 'failed' }> {
  return entry.type === 'ended' || entry.type === 'failed';
}

/** The number of the event that an entry follows. */
export function placeBefore(entry: LogEntry): number {
  return (isEnd(entry) ? entry.after : undefined) ?? entry.seq - 1;
}

function isRun(entry: LogEntry): entry is PieceRun {
  return entry.type === 'delta' || entry.type === 'reasoning';
}

function lastSeqOf(entry: LogEntry | undefined): number {
  if (!entry) return 0;
  return isRun(entry) ? entry.seq + entry.pieces.length - 1 : entry.seq;
}

function cutBefore(entry: LogEntry, seq: number): LogEntry | undefined {
  if (lastSeqOf(entry) < seq) return undefined;
  if (!isRun(entry)) return entry;
  // A run may still grow: what is given away does not.
  const skipped = Math.max(0, seq - entry.seq);
  return { type: entry.type, seq: entry.seq + skipped, pieces: entry.pieces.slice(skipped) };
}
