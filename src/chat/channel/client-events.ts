import { Fault } from '../../kit/errors.ts';
import { noteFault } from '../../kit/http/fault-reply.ts';
import { SpanKind, type Tracer } from '../../kit/trace/trace.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { Caller } from '../caller.ts';
import type { Conversations } from '../conversations/conversation.ts';
import { sayIn } from '../conversations/first-message.ts';
import type { ClientEvents } from '../schemas/channel.ts';
import { requireApprover } from '../tools/approvals.ts';
import { stopAnswer } from '../turns/stop-answer.ts';
import { requirePlace } from '../turns/turn-feed.ts';
import type { FeedHolder } from '../turns/turn-feeds.ts';
import type { Turn, Turns } from '../turns/turn.ts';
import type { Voice } from '../voice/voice.ts';
import type { Channel } from './channel.ts';
import type { ClientEventHandlers } from './desk.ts';
import { Notice } from './notice.ts';
import { replayTurn } from './replay.ts';
import type { Tab } from './tab.ts';

export interface ClientEventParts {
  readonly turns: Pick<Turns, 'begin' | 'find' | 'follow' | 'stop' | 'approve'>;
  readonly feeds: FeedHolder;
  readonly conversations: Pick<Conversations, 'create' | 'ensure' | 'find' | 'remove'>;
  readonly voice: Voice;
  readonly channel: Pick<Channel, 'watch' | 'unwatch'>;
  readonly tracer: Tracer;
  /** Counts a completion; throws `exhausted` when its caller has none left. */
  readonly takeCompletion: (caller: Caller) => void;
}

const agentsMax = 100;
const replaysMax = 16;
const wholesMax = 16;

/** What the events of clients do, over whichever protocol they came. */
export function clientEventHandlers(parts: ClientEventParts): ClientEventHandlers {
  const { turns, channel } = parts;
  return {
    chat_message: (tab, data) =>
      traced(parts.tracer, (traceparent) => chat(parts, tab, { ...data, traceparent })),
    voice_command: (tab, data) => obeyVoice(parts, tab, data),
    subscribe: (tab, { agent_id }) => {
      requireRoom(tab.agents?.has(agent_id) ? 0 : (tab.agents?.size ?? 0), agentsMax);
      channel.watch(tab, agent_id);
      return { type: 'agent_progress', agent_id };
    },
    unsubscribe: (tab, { agent_id }) => {
      channel.unwatch(tab, agent_id);
      return { type: 'agent_progress', agent_id };
    },
    stop: async (tab, data) => ({ stopped: await stopAnswer(parts, tab.ownerId, toStop(data)) }),
    approve: async (tab, { turn_id, answers }) => {
      const given = answers.map(({ call_id, approved }) => ({
        callId: call_id,
        isApproved: approved,
      }));
      requireApprover(tab.caller, given);
      const { id, status } = await turns.approve(tab.caller, turn_id, given);
      return { id, status };
    },
    resume: async (tab, { turn_id, after = 0 }) => {
      const turn = await turns.find(tab.ownerId, turn_id);
      const place = await placeIn(parts, turn, after);
      requireRoom(tab.replayCount, replaysMax);
      void replayTurn(tab, turn, { turns, after: place });
      return { id: turn.id, after: place, status: turn.status };
    },
  };
}

/** A message has a span, as a request has: what the models do for it is below. */
async function traced(
  tracer: Tracer,
  work: (traceparent: string) => Promise<object>,
): Promise<object> {
  const span = tracer.start('chat_message', { kind: SpanKind.SERVER });
  try {
    return await work(formatTraceparent(span.spanContext()));
  } catch (error) {
    noteFault(span, Fault.from(error));
    throw error;
  } finally {
    span.end();
  }
}

async function placeIn({ feeds }: ClientEventParts, turn: Turn, after: number): Promise<number> {
  using held = await feeds.hold(turn);
  return requirePlace(held.feed, after);
}

async function chat(
  parts: ClientEventParts,
  tab: Tab,
  data: ClientEvents['chat_message'] & { readonly traceparent: string },
): Promise<object> {
  const { message, traceparent } = data;
  const stream = data.stream ?? true;
  const conversationId = data.conversation_id ?? undefined;
  const model = data.model ?? undefined;
  const key = data.idempotency_key ?? undefined;
  if (!stream) requireRoom(tab.wholeCount, wholesMax);
  parts.takeCompletion(tab.caller);
  const { caller, ownerId } = tab;
  const first = { ownerId, conversationId, model, content: message, key };
  const turn = await sayIn(parts.conversations, first, async (openedId) => {
    const whole = stream ? undefined : tab.wantWhole(openedId);
    const messages = [{ role: 'user', content: message }];
    const named = {
      ...(model === undefined ? {} : { model }),
      ...(key === undefined ? {} : { key }),
    };
    try {
      const begun = await parts.turns.begin({
        caller,
        conversationId: openedId,
        messages,
        traceparent,
        ...named,
      });
      // Of an answer that was begun before, this socket may have missed a part.
      if (whole && begun.isRepeated) tab.endWhole(whole);
      whole?.bind(begun.id);
      return begun;
    } catch (error) {
      if (whole) tab.endWhole(whole);
      throw error;
    }
  });
  return toOutcome(turn);
}

function toStop({ turn_id, conversation_id }: ClientEvents['stop']) {
  if (turn_id !== undefined) return { turnId: turn_id };
  if (conversation_id !== undefined) return { conversationId: conversation_id };
  throw new Fault('invalid', 'data must have a turn_id or a conversation_id', {
    reason: 'validation_error',
    detail: { param: 'turn_id' },
  });
}

function toOutcome({ id, conversationId, messageId, model }: Turn): object {
  return { id, conversation_id: conversationId, message_id: messageId, model };
}

async function obeyVoice(
  { voice }: ClientEventParts,
  tab: Tab,
  { transcription, confidence, session_id = tab.voiceSessionId }: ClientEvents['voice_command'],
): Promise<object> {
  if (tab.isSpeaking) {
    throw new Fault('exhausted', 'the command before is still being done', {
      reason: 'voice_busy',
    });
  }
  tab.isSpeaking = true;
  try {
    const { speech, action, sessionId } = await voice.obey(tab.caller, {
      transcription,
      confidence,
      ...(session_id === undefined ? {} : { sessionId: session_id }),
    });
    tab.voiceSessionId = sessionId;
    const feedback = { speech, action, session_id: sessionId };
    tab.tell(Notice.of('voice_feedback', feedback));
    return feedback;
  } finally {
    tab.isSpeaking = false;
  }
}

function requireRoom(count: number, max: number): void {
  if (count < max) return;
  throw new Fault('exhausted', `at most ${max} at once on one socket`, {
    reason: 'too_many_subscriptions',
    detail: { limit: max },
  });
}
