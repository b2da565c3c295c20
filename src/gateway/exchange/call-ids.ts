import { hash } from 'node:crypto';
import type { ChatRequest, Message } from '../conversation/request.ts';

/**
 * The request with ids of tool calls that have just so many letters and digits; the same object where
 * all have. An id becomes the same one in its call, in its result and in every turn.
 */
export function withCallIds(request: ChatRequest, length: number): ChatRequest {
  let isChanged = false;
  const fit = (id: string) => {
    const fitting = fitId(id, length);
    isChanged ||= fitting !== id;
    return fitting;
  };
  const messages = request.messages.map((message) => fitMessage(message, fit));
  return isChanged ? { ...request, messages } : request;
}

function fitMessage(message: Message, fit: (id: string) => string): Message {
  if (message.role === 'tool') {
    const parts = message.parts.map((part) => ({ ...part, callId: fit(part.callId) }));
    return { ...message, parts };
  }
  if (message.role !== 'assistant') return message;
  const parts = message.parts.map((part) =>
    part.type === 'tool-call' ? { ...part, id: fit(part.id) } : part,
  );
  return { ...message, parts };
}

/** Of a hash, whose letters and digits make two ids the same about never. */
function fitId(id: string, length: number): string {
  if (id.length === length && /^[a-zA-Z0-9]+$/.test(id)) return id;
  return BigInt(`0x${hash('sha256', id, 'hex')}`)
    .toString(36)
    .slice(-length);
}
