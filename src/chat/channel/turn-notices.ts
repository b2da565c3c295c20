import { toUsage } from '../conversations/answers.ts';
import type { Turn, TurnEvent } from '../turns/turn.ts';
import { Notice } from './notice.ts';

/** The answer that a turn is writing. */
export interface AnswerPlace {
  readonly messageId: string;
  readonly model: string;
  /** The JSON of a piece of it up to its text. */
  readonly head: string;
}

export type EndEvent = Extract<TurnEvent, { type: 'ended' | 'failed' }>;

/** Where the pieces of a turn's answer belong: with `begun` they begin to belong to another message. */
export function placeOf(
  turn: Turn,
  { messageId, model }: Pick<Turn, 'messageId' | 'model'>,
): AnswerPlace {
  const fields = {
    conversation_id: turn.conversationId,
    message_id: messageId,
    model,
    id: turn.id,
  };
  return {
    messageId,
    model,
    head: `${JSON.stringify(fields).slice(0, -1)},"finished":false,"token":`,
  };
}

/** What sockets are told of an event of a turn; nothing when an answer only begins. */
export function turnNotice(turn: Turn, place: AnswerPlace, event: TurnEvent): Notice | undefined {
  const { seq } = event;
  const subject = { id: turn.id, seq };
  switch (event.type) {
    case 'delta': {
      const json = `${place.head}${JSON.stringify(event.content)},"seq":${seq}}`;
      return new Notice('chat_response', json, subject);
    }
    case 'reasoning': {
      const reasoning = JSON.stringify(event.content);
      return new Notice(
        'chat_response',
        `${place.head}"","reasoning":${reasoning},"seq":${seq}}`,
        subject,
      );
    }
    case 'ended':
    case 'failed':
      return endNotice(turn, { place, event, text: '' });
    case 'begun':
      return undefined;
    default:
      return toolNotice(turn, place, event);
  }
}

/** The last of a turn, with the text that was not told before. */
export function endNotice(
  turn: Turn,
  {
    place,
    event,
    text,
  }: { readonly place: AnswerPlace; readonly event: EndEvent; readonly text: string },
): Notice {
  const isFailed = event.type === 'failed';
  const data = {
    conversation_id: turn.conversationId,
    message_id: isFailed ? place.messageId : event.messageId,
    token: text,
    finished: true,
    model: isFailed ? place.model : event.model,
    id: turn.id,
    seq: event.seq,
    finish_reason: isFailed ? 'error' : event.finishReason,
    ...(isFailed ? { error: { code: event.code.toUpperCase(), message: event.message } } : {}),
    ...(event.after === undefined ? {} : { after: event.after }),
    ...(!isFailed && event.usage ? { usage: toUsage(event.usage) } : {}),
  };
  return Notice.of('chat_response', data, { id: turn.id, seq: event.seq });
}

type ToolEvent = Extract<TurnEvent, { type: 'tool-call' | 'approval' | 'tool-result' }>;

function toolNotice(turn: Turn, { messageId }: AnswerPlace, event: ToolEvent): Notice {
  const { seq } = event;
  const base = { id: turn.id, seq, conversation_id: turn.conversationId };
  const subject = { id: turn.id, seq };
  switch (event.type) {
    case 'tool-call': {
      const { id: call_id, name, arguments: text } = event.call;
      const call = { call_id, name, arguments: text, needs_approval: event.needsApproval };
      return Notice.of('tool_call', { ...base, message_id: messageId, ...call }, subject);
    }
    case 'approval':
      return Notice.of(
        'approval',
        { ...base, call_id: event.callId, approved: event.isApproved },
        subject,
      );
    default: {
      const { callId: call_id, name, content, isError: is_error } = event;
      return Notice.of('tool_result', { ...base, call_id, name, content, is_error }, subject);
    }
  }
}
