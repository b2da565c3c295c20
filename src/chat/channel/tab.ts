import type { Caller } from '../caller.ts';
import { ownerOf } from '../conversations/conversation.ts';
import type { Turn, TurnEvent } from '../turns/turn.ts';
import { Gaps } from './gaps.ts';
import type { Notice } from './notice.ts';
import type { AnswerPlace } from './turn-notices.ts';
import { WholeAnswer } from './whole-answer.ts';
import type { Wire } from './wire.ts';

/** An event of a turn with what all sockets of its owner are told of it. */
export interface HeardEvent {
  readonly event: TurnEvent;
  readonly place: AnswerPlace;
  readonly notice: Notice | undefined;
}

/** One open socket of a user. */
export class Tab {
  readonly caller: Caller;
  readonly ownerId: string;
  /** The agents whose progress it wants. */
  agents: Set<string> | undefined;
  /** The voice session that it spoke in last. */
  voiceSessionId: string | undefined;
  /** A command that it spoke is being done. */
  isSpeaking = false;
  readonly #wire: Wire;
  #gaps: Gaps | undefined;
  /** Answers that it wants whole; absent while there are none, as for most. */
  #wholes: Set<WholeAnswer> | undefined;
  /** Turns that it reads again, by id. */
  #replays: Map<string, AbortController> | undefined;
  #isClosed = false;

  constructor(caller: Caller, wire: Wire) {
    this.caller = caller;
    this.ownerId = ownerOf(caller);
    this.#wire = wire;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Tells it, or else later that it missed something. */
  tell(notice: Notice): void {
    if (this.push(notice) || !notice.subject || this.#isClosed) return;
    this.#gaps ??= new Gaps(this.#wire);
    this.#gaps.miss(notice.subject);
  }

  /** Tells it unless it is too slow now. */
  push(notice: Notice): boolean {
    if (this.#gaps && !this.#gaps.tell()) return false;
    return this.#wire.push(notice);
  }

  room(): Promise<void> {
    return this.#wire.room();
  }

  /** Tells it what happens in a turn, in the way that it wants to hear of it. */
  hear(turn: Turn, heard: HeardEvent): void {
    const notice = this.#wholes || this.#replays ? this.#choose(turn, heard) : heard.notice;
    if (notice) this.tell(notice);
  }

  /** Gives it the answer of the next turn in a conversation in one piece. */
  wantWhole(conversationId: string): WholeAnswer {
    const whole = new WholeAnswer(conversationId);
    this.#wholes ??= new Set();
    this.#wholes.add(whole);
    return whole;
  }

  /** The answers that it still waits for whole. */
  get wholeCount(): number {
    return this.#wholes?.size ?? 0;
  }

  /** There will be no such answer, or it was told. */
  endWhole(whole: WholeAnswer): void {
    this.#wholes?.delete(whole);
    if (this.#wholes?.size === 0) this.#wholes = undefined;
  }

  /** From now on a turn's events come from a replay; an earlier one ends. Answers the new one's signal. */
  beginReplay(turnId: string): AbortSignal {
    this.#replays ??= new Map();
    this.#replays.get(turnId)?.abort();
    const replay = new AbortController();
    this.#replays.set(turnId, replay);
    if (this.#isClosed) replay.abort();
    return replay.signal;
  }

  endReplay(turnId: string, signal: AbortSignal): void {
    if (this.#replays?.get(turnId)?.signal !== signal) return;
    this.#replays.delete(turnId);
    if (this.#replays.size === 0) this.#replays = undefined;
  }

  get replayCount(): number {
    return this.#replays?.size ?? 0;
  }

  /** To be called when its socket has ended. */
  close(): void {
    this.#isClosed = true;
    this.#gaps?.close();
    for (const replay of this.#replays?.values() ?? []) replay.abort();
  }

  #choose(turn: Turn, heard: HeardEvent): Notice | undefined {
    if (this.#replays?.has(turn.id)) return undefined;
    for (const whole of this.#wholes ?? []) {
      if (!whole.isOf(turn, heard.event)) continue;
      const { type } = heard.event;
      if (type === 'ended' || type === 'failed') this.endWhole(whole);
      return whole.take(turn, heard);
    }
    return heard.notice;
  }
}
