import type {
  Conversations,
  MessageStatus,
  NewMessage,
  ToolCall,
} from '../conversations/conversation.ts';
import { newId } from '../../kit/ids.ts';
import type { KnownHistories } from './known-histories.ts';
import type { LiveTurn } from './live-turn.ts';
import type { ModelAnswer } from './model-answer.ts';
import type { CallResult } from './tool-calls.ts';
import type { Turn, TurnEvent } from './turn.ts';
import { conversationNotFound, turnLost } from './turn-faults.ts';
import { numbered, type NewEvent, type TurnFeed } from './turn-feed.ts';
import { pieceCharsMax, type PieceType, type WholeEvent } from './turn-log.ts';
import type { TurnState } from './turns-store.ts';

export interface RecordOptions {
  readonly conversations: Pick<Conversations, 'append' | 'complete'>;
  readonly histories: Pick<KnownHistories, 'append' | 'complete'>;
  /** Something new is in its log. */
  readonly onEvent: (record: TurnRecord, event: TurnEvent) => void;
  /** Stores its new state with events that come next; false when it is no longer this replica's. */
  readonly save: (
    record: TurnRecord,
    state: TurnState,
    events: readonly WholeEvent[],
  ) => Promise<boolean>;
}

/** What is known and kept of a turn that runs here: its events, its messages and its state. */
export class TurnRecord implements LiveTurn {
  readonly feed: TurnFeed;
  turn: Turn;
  savedSeq: number;
  toldSeq: number;
  readonly #options: RecordOptions;
  /** Its message waits for its end. */
  #isPending: boolean;

  constructor(
    turn: Turn,
    feed: TurnFeed,
    options: RecordOptions & { readonly isPending: boolean },
  ) {
    this.turn = turn;
    this.feed = feed;
    this.savedSeq = feed.log.lastSeq;
    this.toldSeq = this.savedSeq;
    this.#options = options;
    this.#isPending = options.isPending;
  }

  nameModel(model: string): void {
    this.turn = { ...this.turn, model };
  }

  /** A long one becomes several. */
  piece(type: PieceType, content: string): void {
    let rest = content;
    while (rest.length > pieceCharsMax) {
      const end = pieceCharsMax - (isHighSurrogate(rest.charCodeAt(pieceCharsMax - 1)) ? 1 : 0);
      this.#tellPiece(type, rest.slice(0, end));
      rest = rest.slice(end);
    }
    this.#tellPiece(type, rest);
  }

  push(event: NewEvent): void {
    this.#options.onEvent(this, this.feed.push(event));
  }

  tellResult({ call, content, isError }: CallResult): void {
    this.push({ type: 'tool-result', callId: call.id, name: call.name, content, isError });
  }

  /** Adds results of calls to the conversation. */
  async append(results: readonly CallResult[]): Promise<void> {
    await this.#append(results.map(toMessage));
  }

  /** The same, with the place of the answer that follows them. */
  async appendWithAnswer(results: readonly CallResult[]): Promise<void> {
    const messageId = newId('msg');
    const { model } = this.turn;
    const answer = {
      id: messageId,
      role: 'assistant',
      content: '',
      status: 'pending',
      model,
    } as const;
    await this.#append([...results.map(toMessage), answer]);
    this.turn = { ...this.turn, messageId };
    this.#isPending = true;
    await this.save({ status: 'running', calls: [] });
  }

  /** Fills in the message that waits for its end, if there is one. */
  async completeMessage(
    status: MessageStatus,
    { content, usage }: Pick<ModelAnswer, 'content' | 'usage'>,
    toolCalls: readonly ToolCall[] = [],
  ): Promise<void> {
    const { conversationId, messageId, model } = this.turn;
    if (conversationId === undefined || !this.#isPending) return;
    const completed = await this.#options.conversations.complete(messageId, {
      content,
      status,
      model,
      ...(usage ? { usage } : {}),
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
    });
    this.#isPending = false;
    // Deleted with its conversation, or ended by somebody who held this replica for dead.
    if (!completed) throw conversationNotFound();
    this.#options.histories.complete(completed);
  }

  /** Stores its state, and tells of the events only then. */
  async save(
    { status, calls }: Pick<TurnState, 'status' | 'calls'>,
    events: readonly NewEvent[] = [],
  ): Promise<void> {
    const { messageId, model } = this.turn;
    const state = { status, messageId, model, ...(calls ? { calls } : {}) };
    const next = this.feed.log.lastSeq + 1;
    const following = events.map((event, index) => numbered(event, next + index));
    if (!(await this.#options.save(this, state, following))) throw turnLost();
    this.turn = { ...this.turn, status };
    for (const event of events) this.push(event);
  }

  #tellPiece(type: PieceType, content: string): void {
    this.#options.onEvent(this, this.feed.piece(type, content));
  }

  async #append(messages: readonly NewMessage[]): Promise<void> {
    const { ownerId, conversationId, id: turnId } = this.turn;
    if (conversationId === undefined) return;
    const added = messages.map((message) => ({ ...message, turnId }));
    const { conversations, histories } = this.#options;
    histories.append(conversationId, await conversations.append(ownerId, conversationId, added));
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function toMessage({ call, content }: CallResult): NewMessage {
  return { role: 'tool', content, status: 'complete', toolCallId: call.id };
}
