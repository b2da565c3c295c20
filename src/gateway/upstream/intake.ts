import { parseEvents, type ServerEvent } from '../../kit/answers/sse.ts';
import type { AnswerEvent, Usage } from '../conversation/answer.ts';
import type { AnswerReader, Dialect } from '../dialects/dialect.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';

/** Takes what a stream brings, in order. */
export interface StreamConsumer {
  /** Whole events, as they came, and whether tokens may be counted in them. */
  bytes(events: Buffer, mayHoldUsage: boolean): void;
  /** What the events say. */
  pieces(pieces: readonly AnswerEvent[]): void;
}

/** What is known of a stream from the events that came. */
export interface Intake {
  /** Throws UpstreamError for an error that the provider sends inside the stream. */
  take(events: Buffer): void;
  /** Gives the consumer what has come, and all that comes. */
  consume(consumer: StreamConsumer): void;
  readonly isStarted: boolean;
  readonly isComplete: boolean;
  readonly isEnded: boolean;
  readonly usage: Usage | undefined;
  /** What has come so far; throws UpstreamError for a piece that makes no sense. */
  kept(): Kept;
}

/** What can be read again of what has come. */
export interface Kept {
  readonly pieces: readonly AnswerEvent[];
  /** Their part of all that came: below 1 where that was too much to keep, and they are its beginning. */
  readonly share: number;
}

const keptBytesMax = 4 * 1024 * 1024;

/** Who answers, and in which words. */
export interface Source {
  readonly dialect: Dialect;
  /** The model's name upstream, for answers that do not name one. */
  readonly model: string;
}

/** Bytes that pass through. */
export class RawIntake implements Intake {
  readonly #source: Source;
  readonly #watch;
  readonly #kept: Buffer[] = [];
  #size = 0;
  #consumer: StreamConsumer | undefined;

  constructor(source: Source) {
    this.#source = source;
    this.#watch = source.dialect.openWatch();
  }

  get isStarted(): boolean {
    return this.#watch.isStarted;
  }

  get isComplete(): boolean {
    return this.#watch.isComplete;
  }

  get isEnded(): boolean {
    return this.#watch.isEnded;
  }

  get usage(): Usage | undefined {
    return this.#watch.usage;
  }

  take(events: Buffer): void {
    const before = this.#watch.usage;
    this.#watch.see(events);
    if (this.#size < keptBytesMax) this.#kept.push(events);
    this.#size += events.length;
    this.#consumer?.bytes(events, this.#watch.usage !== before);
  }

  consume(consumer: StreamConsumer): void {
    this.#consumer = consumer;
    for (const events of this.#kept) consumer.bytes(events, true);
  }

  kept(): Kept {
    const events = Buffer.concat(this.#kept);
    const pieces = new PieceReader(this.#source).read(events);
    return { pieces, share: this.#size === 0 ? 1 : events.length / this.#size };
  }
}

/** Pieces, for a client who speaks otherwise. */
export class PieceIntake implements Intake {
  readonly #reader: PieceReader;
  readonly #kept: AnswerEvent[] = [];
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();
  #consumer: StreamConsumer | undefined;
  isStarted = false;
  isEnded = false;
  usage: Usage | undefined;

  constructor(source: Source) {
    this.#reader = new PieceReader(source);
  }

  get isComplete(): boolean {
    return this.#finished.size > 0 && this.#finished.size >= this.#begun.size;
  }

  take(events: Buffer): void {
    const pieces = this.#reader.read(events);
    for (const piece of pieces) this.#note(piece);
    this.#kept.push(...pieces);
    if (pieces.length > 0) this.#consumer?.pieces(pieces);
  }

  consume(consumer: StreamConsumer): void {
    this.#consumer = consumer;
    if (this.#kept.length > 0) consumer.pieces([...this.#kept]);
  }

  kept(): Kept {
    return { pieces: this.#kept, share: 1 };
  }

  #note(piece: AnswerEvent): void {
    if (piece.type === 'usage') this.usage = piece.usage;
    else if (piece.type === 'start') this.usage ??= piece.usage;
    else if (piece.type === 'end') this.isEnded = true;
    else {
      this.isStarted = true;
      this.#begun.add(piece.choice);
      if (piece.type === 'finish') this.#finished.add(piece.choice);
    }
  }
}

/** An answer that came all at once where a stream was asked for. */
export class WholeIntake implements Intake {
  readonly isStarted = true;
  readonly isComplete = true;
  readonly isEnded = true;
  readonly usage: Usage;
  readonly #pieces: readonly AnswerEvent[];

  constructor(pieces: readonly AnswerEvent[], usage: Usage) {
    this.#pieces = pieces;
    this.usage = usage;
  }

  take(): void {}

  consume(consumer: StreamConsumer): void {
    consumer.pieces(this.#pieces);
  }

  kept(): Kept {
    return { pieces: this.#pieces, share: 1 };
  }
}

/**
 * Reads whole events; where the answer does not name its model, it is the one that was asked. Pieces of
 * which the provider has not said what they begin have a beginning all the same.
 */
class PieceReader {
  readonly #source: Source;
  readonly #reader: AnswerReader;
  #isBegun = false;

  constructor(source: Source) {
    this.#source = source;
    this.#reader = source.dialect.openReader();
  }

  read(events: Buffer): AnswerEvent[] {
    const { dialect, model } = this.#source;
    const pieces = eventsOf(dialect, events)
      .flatMap((event) => this.#reader.read(event))
      .map((piece) => (piece.type === 'start' ? { ...piece, model: piece.model || model } : piece));
    const [first] = pieces;
    if (this.#isBegun || !first) return pieces;
    this.#isBegun = true;
    if (first.type === 'start') return pieces;
    const createdAt = Math.floor(Date.now() / 1_000);
    return [{ type: 'start', id: '', model, createdAt }, ...pieces];
  }
}

function eventsOf({ framing, name }: Dialect, bytes: Buffer): ServerEvent[] {
  const text = bytes.toString();
  if (framing === 'events') return parseEvents(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.some((line) => !/^\s*[{[]/.test(line)))
    throw UpstreamError.of('broken', `the ${name} stream holds a line that is not JSON`);
  return lines.map((data) => ({ data }));
}
