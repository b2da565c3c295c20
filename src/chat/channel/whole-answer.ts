import type { Turn, TurnEvent } from '../turns/turn.ts';
import type { Notice } from './notice.ts';
import { endNotice, type AnswerPlace } from './turn-notices.ts';

/** The answer of a turn that one socket wants in one piece. */
export class WholeAnswer {
  readonly conversationId: string;
  #turnId: string | undefined;
  #text = '';

  constructor(conversationId: string) {
    this.conversationId = conversationId;
  }

  /** Says whose it is, where that is not known by its beginning. */
  bind(turnId: string): void {
    this.#turnId ??= turnId;
  }

  /** Whether it is this turn's: the first that begins in the conversation after it was asked for. */
  isOf(turn: Turn, event: TurnEvent): boolean {
    if (this.#turnId === undefined && turn.conversationId === this.conversationId) {
      if (event.type === 'begun' && event.seq === 1) this.#turnId = turn.id;
    }
    return this.#turnId === turn.id;
  }

  /** What the socket is told of an event of its turn, in place of what all others are. */
  take(
    turn: Turn,
    { event, place, notice }: { event: TurnEvent; place: AnswerPlace; notice: Notice | undefined },
  ): Notice | undefined {
    switch (event.type) {
      case 'begun':
        this.#text = '';
        return undefined;
      case 'delta':
        this.#text += event.content;
        return undefined;
      case 'reasoning':
        return undefined;
      case 'ended':
      case 'failed':
        return endNotice(turn, { place, event, text: this.#text });
      default:
        return notice;
    }
  }
}
