import type { AnswerEvent } from '../../conversation/answer.ts';

/** A piece of what an answer holds. */
export type ContentEvent = Extract<
  AnswerEvent,
  { type: 'text' | 'refusal' | 'reasoning' | 'tool-call' }
>;

type CallEvent = Extract<AnswerEvent, { type: 'tool-call' }>;

interface HeldCall {
  readonly first: CallEvent;
  arguments: string;
  signature: string | undefined;
}

/** Pieces that wait for their turn; those of one call become one piece. */
export class HeldPieces {
  readonly #pieces: (ContentEvent | HeldCall)[] = [];
  readonly #calls = new Map<number, HeldCall>();

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  add(event: ContentEvent): void {
    if (event.type === 'tool-call') this.#addCall(event);
    else this.#pieces.push(event);
  }

  /** All of them, in the order in which each began; none are held any more. */
  take(): ContentEvent[] {
    const taken = this.#pieces.map((piece) =>
      'first' in piece
        ? { ...piece.first, arguments: piece.arguments, signature: piece.signature }
        : piece,
    );
    this.#pieces.length = 0;
    this.#calls.clear();
    return taken;
  }

  #addCall(event: CallEvent): void {
    const known = this.#calls.get(event.call);
    if (known) {
      known.arguments += event.arguments;
      known.signature ??= event.signature;
      return;
    }
    const held = { first: event, arguments: event.arguments, signature: event.signature };
    this.#calls.set(event.call, held);
    this.#pieces.push(held);
  }
}
