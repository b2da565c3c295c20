import { Fault } from '../../kit/errors.ts';
import type { Message } from '../conversations/conversation.ts';
import { sayIn } from '../conversations/first-message.ts';
import { faultOf, readingEnded } from '../turns/turn-faults.ts';
import type { Turn } from '../turns/turn.ts';
import { keyOf, modelOf, notEmpty } from './arguments.ts';
import type { OperationContext } from './context.ts';

export interface MessageInput {
  readonly conversationId?: string | null;
  readonly content: string;
  readonly model?: string | null;
  readonly stream?: boolean | null;
  readonly idempotencyKey?: string | null;
}

/**
 * Stores a message and has it answered. Without `stream` it resolves with the answer, or with the message
 * whose calls of tools wait for approval; it rejects with why there is no answer.
 */
export async function sendMessage(
  context: OperationContext,
  { conversationId, content, model, stream, idempotencyKey }: MessageInput,
): Promise<Message> {
  const { parts, ownerId, asker } = context;
  const { caller, traceparent } = asker;
  notEmpty('content', content);
  const named = model == null ? undefined : modelOf(model);
  const key = idempotencyKey == null ? undefined : keyOf(idempotencyKey);
  parts.completions.take(caller.identity);
  const first = {
    ownerId,
    conversationId: conversationId ?? undefined,
    model: named,
    content,
    key,
  };
  const turn = await sayIn(parts.conversations, first, (id) =>
    parts.turns.begin({
      caller,
      conversationId: id,
      messages: [{ role: 'user', content }],
      ...(named === undefined ? {} : { model: named }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(key === undefined ? {} : { key }),
    }),
  );
  const messageId = stream ? turn.messageId : await waitForAnswer(context, turn);
  const [message] = await context.loader.byIds([messageId]);
  if (message) return message;
  throw new Fault('not_found', 'the conversation was deleted', {
    reason: 'conversation_not_found',
  });
}

/** The id of the message that answers, or asks for approval. */
async function waitForAnswer({ parts, asker }: OperationContext, turn: Turn): Promise<string> {
  let { messageId } = turn;
  for await (const event of parts.turns.follow(turn, 0, asker.signal)) {
    if (event.type === 'begun') messageId = event.messageId;
    else if (event.type === 'ended') return event.messageId;
    else if (event.type === 'failed') throw faultOf(event);
    else if (event.type === 'tool-call' && event.needsApproval) return messageId;
  }
  throw readingEnded(asker.signal);
}
