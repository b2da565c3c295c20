import { Fault } from '../../kit/errors.ts';
import type { Caller } from '../caller.ts';
import { ownerOf, type Conversations } from '../conversations/conversation.ts';
import { requireApprover } from '../tools/approvals.ts';
import type { Turn, TurnEvent, Turns } from '../turns/turn.ts';
import { clarify, type Deed } from './action.ts';
import { quote, sayAnswer, sayList } from './speech.ts';
import type { Pending, VoiceSession } from './voice-sessions.ts';

export interface AnswerParts {
  readonly conversations: Pick<Conversations, 'create' | 'list'>;
  readonly turns: Pick<Turns, 'begin' | 'follow' | 'stop' | 'approve'>;
  /** Counts a completion; throws `exhausted` when the caller has had too many. */
  readonly admit: (caller: Caller) => void;
  /** How long an answer is waited for; a minute when absent. */
  readonly answerWaitMs?: number;
  /** Told whether a model answered. */
  readonly onModel: (isThere: boolean) => void;
}

const answerWaitMsDefault = 60_000;
/** Calls that one answer asks for come together. */
const approvalsQuietMs = 200;
const heardChars = 100_000;

/** Questions to a model, whose answers are spoken. */
export class Answers {
  readonly #parts: AnswerParts;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  /** Puts words to the conversation that the session is in, or to a new one. */
  async ask(
    caller: Caller,
    session: VoiceSession,
    { action, text }: { readonly action: string; readonly text: string },
  ): Promise<Deed> {
    this.#parts.admit(caller);
    try {
      const turn = await this.#begin(caller, session, text);
      return await this.#hear(session, { turn, after: 0, action });
    } catch (error) {
      if (isModelAway(error)) this.#parts.onModel(false);
      if (!(error instanceof Fault) || error.reason !== 'turn_in_progress') throw error;
      return clarify('The last answer is still being written. Say stop to end it.');
    }
  }

  /** Stops what is written in the session's conversation, else in the one that was used last. */
  async stop(caller: Caller, session: VoiceSession): Promise<Deed> {
    const conversationId = session.conversationId ?? (await this.#lastUsed(caller));
    const isStopped =
      conversationId !== undefined &&
      (await this.#parts.turns.stop(ownerOf(caller), { conversationId }));
    return { action: 'stop', speech: isStopped ? 'I stopped it.' : 'Nothing is being written.' };
  }

  /** Allows or refuses what the turn asked about, and says what comes of it. */
  async approve(
    caller: Caller,
    session: VoiceSession,
    { pending, isApproved }: { readonly pending: PendingApproval; readonly isApproved: boolean },
  ): Promise<Deed> {
    const { turnId, callIds, after } = pending;
    const answers = callIds.map((callId) => ({ callId, isApproved }));
    requireApprover(caller, answers);
    const turn = await this.#parts.turns.approve(caller, turnId, answers);
    return this.#hear(session, { turn, after, action: isApproved ? 'approve' : 'refuse' });
  }

  async #begin(caller: Caller, session: VoiceSession, text: string): Promise<Turn> {
    const known = session.conversationId;
    const conversationId = known ?? (await this.#create(caller, session));
    const messages = [{ role: 'user', content: text }];
    try {
      return await this.#parts.turns.begin({ caller, conversationId, messages });
    } catch (error) {
      const isGone = error instanceof Fault && error.reason === 'conversation_not_found';
      if (!isGone || known === undefined) throw error;
      const anew = await this.#create(caller, session);
      return this.#parts.turns.begin({ caller, conversationId: anew, messages });
    }
  }

  async #create(caller: Caller, session: VoiceSession): Promise<string> {
    const { id } = await this.#parts.conversations.create(ownerOf(caller));
    session.conversationId = id;
    return id;
  }

  async #lastUsed(caller: Caller): Promise<string | undefined> {
    const page = { limit: 1, offset: 0 };
    const { conversations } = await this.#parts.conversations.list(ownerOf(caller), page);
    return conversations[0]?.id;
  }

  async #hear(session: VoiceSession, { turn, after, action }: Heard): Promise<Deed> {
    const ear = new Ear(after);
    const limit = new AbortController();
    const end = () => limit.abort();
    let timer = setTimeout(end, this.#parts.answerWaitMs ?? answerWaitMsDefault);
    try {
      for await (const event of this.#parts.turns.follow(turn, after, limit.signal)) {
        ear.hear(event);
        if (ear.isOver || limit.signal.aborted) break;
        if (ear.calls.length === 0) continue;
        clearTimeout(timer);
        timer = setTimeout(end, approvalsQuietMs);
      }
    } catch (error) {
      if (!limit.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
    if (ear.failure || ear.text !== '') this.#parts.onModel(!ear.failure);
    return { ...this.#say(session, { turn, ear, action }), turnId: turn.id };
  }

  #say(
    session: VoiceSession,
    { turn, ear, action }: { readonly turn: Turn; readonly ear: Ear; readonly action: string },
  ): Deed {
    if (ear.failure) return { action: 'failed', speech: `No answer came: ${ear.failure}.` };
    if (ear.isOver) return { action, speech: sayAnswer(ear.text) || 'The answer is empty.' };
    if (ear.calls.length === 0) {
      const sofar = ear.text === '' ? '' : ` So far: ${sayAnswer(ear.text)}`;
      return { action, speech: `The answer is still being written.${sofar}` };
    }
    const callIds = ear.calls.map(({ id }) => id);
    session.ask({ kind: 'approval', turnId: turn.id, callIds, after: ear.seq });
    const names = ear.calls.map((call) => `${call.name} with ${quote(call.arguments)}`);
    return { action: 'confirm_tool_call', speech: `May I call ${sayList(names)}? Say yes or no.` };
  }
}

function isModelAway(error: unknown): boolean {
  return error instanceof Fault && ['unavailable', 'deadline', 'upstream'].includes(error.code);
}

type PendingApproval = Extract<Pending, { kind: 'approval' }>;

interface Heard {
  readonly turn: Turn;
  readonly after: number;
  readonly action: string;
}

type CallEvent = Extract<TurnEvent, { type: 'tool-call' }>;

/** What was heard of a turn. */
class Ear {
  readonly calls: CallEvent['call'][] = [];
  text = '';
  failure: string | undefined;
  isOver = false;
  seq: number;

  constructor(after: number) {
    this.seq = after;
  }

  hear(event: TurnEvent): void {
    this.seq = event.seq;
    if (event.type === 'delta' && this.text.length < heardChars) this.text += event.content;
    else if (event.type === 'tool-call' && event.needsApproval) this.calls.push(event.call);
    else if (event.type === 'approval') this.#settle(event.callId);
    // What was said before a call is not the answer.
    else if (event.type === 'tool-result') this.text = '';
    else if (event.type === 'ended') this.isOver = true;
    else if (event.type === 'failed') this.#fail(event.message);
  }

  #settle(callId: string): void {
    const place = this.calls.findIndex(({ id }) => id === callId);
    if (place >= 0) this.calls.splice(place, 1);
  }

  #fail(message: string): void {
    this.failure = message;
    this.isOver = true;
  }
}
