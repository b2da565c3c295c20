import type { Answer } from '../../api/contracts.ts';
import type { CallResult, LiveAnswer, LiveCall, LiveTurn } from '../turns/live-turn.ts';

export type Detail = Answer<'chat', 'GET /api/conversations/:id'>;
export type Message = Detail['messages'][number];
export type Conversation = Omit<Detail, 'messages' | 'next'>;

/** A conversation, and of its messages those behind a place. */
export interface Thread {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
}

/** What is shown of a conversation, one below the other. */
export type Item = Said | Answered;

/** What a user said, or an instruction. */
export interface Said {
  readonly type: 'said';
  readonly id: string;
  readonly role: string;
  readonly text: string;
  /** Absent while it is not stored. */
  readonly message?: Message;
}

/** What a model said and called. */
export interface Answered {
  readonly type: 'answer';
  readonly id: string;
  readonly model: string | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ShownCall[];
  readonly status: string;
  /** Absent while it is not stored. */
  readonly message?: Message;
}

export interface ShownCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly isApproved?: boolean;
  readonly result?: CallResult;
}

/** Puts what is stored and what is being told in one order; results of tools go to their calls. */
export function arrange(messages: readonly Message[], turn: LiveTurn | undefined): readonly Item[] {
  const results = new Map(messages.map((one) => [one.tool_call_id, one.content]));
  const live = new Map(turn?.answers.map((answer) => [answer.messageId, answer]));
  const stored = messages
    .filter(({ role }) => role !== 'tool')
    .map((message): Item => toItem(message, results, live.get(message.id)));
  const known = new Set(messages.map(({ id }) => id));
  const coming = (turn?.answers ?? []).filter(({ messageId }) => !known.has(messageId));
  return [...stored, ...questionOf(messages, turn), ...coming.map((answer) => toLive(answer))];
}

/** The turn that somebody has to read: it runs, or broke off and may say why. */
export function openTurnOf(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last?.status === 'pending' || last?.status === 'interrupted' ? last.turn_id : undefined;
}

/** The messages with one that is new or has changed, in their order. */
export function withMessage(messages: readonly Message[], told: Message): readonly Message[] {
  const [first] = messages;
  const isHidden = first !== undefined && told.place < first.place;
  if (isHidden) return messages;
  const others = messages.filter(({ id }) => id !== told.id);
  return [...others, told].toSorted((one, other) => one.place - other.place);
}

/** What was asked before an answer. */
export function questionBefore(items: readonly Item[], id: string): Said | undefined {
  const at = items.findIndex((item) => item.id === id);
  return items.slice(0, at).findLast((item): item is Said => item.type === 'said');
}

type Results = ReadonlyMap<string | undefined, string>;

function toItem(message: Message, results: Results, live: LiveAnswer | undefined): Item {
  const { id, role, content, status, model } = message;
  if (role !== 'assistant') return { type: 'said', id, role, text: content, message };
  const isPending = status === 'pending';
  const told = isPending && live && live.text.length > content.length ? live.text : content;
  return {
    type: 'answer',
    id,
    model: model ?? (isPending ? live?.model : undefined),
    text: told,
    reasoning: live?.reasoning ?? '',
    calls: callsOf(message, results, live?.calls ?? []),
    status,
    message,
  };
}

function callsOf(
  { tool_calls: stored = [] }: Message,
  results: Results,
  live: readonly LiveCall[],
): readonly ShownCall[] {
  const known = new Set(stored.map(({ id }) => id));
  const calls = stored.map((call): ShownCall => {
    const told = live.find(({ id }) => id === call.id);
    const content = results.get(call.id);
    const result =
      told?.result ?? (content === undefined ? undefined : { content, isError: false });
    return { ...call, ...told, ...(result ? { result } : {}) };
  });
  return [...calls, ...live.filter(({ id }) => !known.has(id))];
}

function questionOf(messages: readonly Message[], turn: LiveTurn | undefined): readonly Said[] {
  const question = turn?.question;
  if (!question) return [];
  const isStored = messages.some(({ role, place }) => role === 'user' && place > question.after);
  return isStored ? [] : [{ type: 'said', id: 'question', role: 'user', text: question.text }];
}

function toLive({ messageId, calls, model, text, reasoning }: LiveAnswer): Answered {
  return { type: 'answer', id: messageId, model, text, reasoning, calls, status: 'pending' };
}
