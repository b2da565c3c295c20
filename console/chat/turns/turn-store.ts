import { Refusal } from '../../api/refusal.ts';
import { takeChunk, type Chunk, type LiveTurn, type Question } from './live-turn.ts';
import { readTurn, type TurnReaderOptions, type TurnStart } from './turn-stream.ts';

type TurnReader = (start: TurnStart, options: TurnReaderOptions) => AsyncIterable<Chunk>;

interface Reading {
  turn: LiveTurn;
  readonly stopper: AbortController;
}

/** Tokens come faster than anybody reads; what is shown changes so often at most. */
const pauseMs = 40;

/** The turns that this page reads, one for a conversation. */
export class TurnStore implements Disposable {
  readonly #read: TurnReader;
  readonly #readings = new Map<string, Reading>();
  readonly #listeners = new Set<() => void>();
  #isTelling = false;

  constructor(read: TurnReader = readTurn) {
    this.#read = read;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  turnOf(conversationId: string): LiveTurn | undefined {
    return this.#readings.get(conversationId)?.turn;
  }

  /** Asks a question; resolves when all that comes of it is here. */
  ask(conversationId: string, question: Question): Promise<void> {
    const start = { ask: { conversationId, text: question.text } };
    return this.#run(conversationId, start, { question, answers: [], status: 'running' });
  }

  /** Reads a turn that was begun elsewhere, unless it is read already. */
  async follow(conversationId: string, turnId: string): Promise<void> {
    const reading = this.#readings.get(conversationId);
    const turn = reading?.turn;
    if (turn?.id === turnId || turn?.status === 'running') return;
    if (reading && turn?.status === 'failed' && turn.id === undefined) {
      // It was refused before its first word, and is the one that was asked here.
      reading.turn = { ...turn, id: turnId };
      return;
    }
    await this.#run(
      conversationId,
      { follow: turnId },
      { id: turnId, answers: [], status: 'running' },
    );
  }

  /** Reads the turns of other conversations no more: browsers open few streams at once. The turns go on. */
  keepOnly(conversationId: string | undefined): void {
    for (const [id, { stopper }] of this.#readings) {
      if (id === conversationId) continue;
      stopper.abort();
      this.#readings.delete(id);
    }
  }

  [Symbol.dispose](): void {
    this.keepOnly(undefined);
  }

  async #run(conversationId: string, start: TurnStart, turn: LiveTurn): Promise<void> {
    this.#readings.get(conversationId)?.stopper.abort();
    const reading: Reading = { turn, stopper: new AbortController() };
    this.#readings.set(conversationId, reading);
    this.#tellSoon();
    const { signal } = reading.stopper;
    try {
      for await (const chunk of this.#read(start, { signal })) {
        reading.turn = takeChunk(reading.turn, chunk);
        this.#tellSoon();
      }
      reading.turn = { ...reading.turn, status: 'ended' };
    } catch (error) {
      if (signal.aborted) return;
      reading.turn = failed(reading.turn, error);
    }
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    }, pauseMs);
  }
}

function failed(turn: LiveTurn, error: unknown): LiveTurn {
  // Nobody can say any longer how it went; what is stored does.
  if (error instanceof Refusal && error.code === 'TURN_NOT_FOUND')
    return { ...turn, status: 'ended' };
  return {
    ...turn,
    status: 'failed',
    error: error instanceof Error ? error : new Error(String(error)),
  };
}
