import { createHash } from 'node:crypto';
import { newId } from '../../kit/ids.ts';
import { ownerOf } from '../conversations/conversation.ts';
import type { NewTurn } from './beginnings-store.ts';
import type { TurnRequest } from './turn.ts';

/**
 * A turn of a request. With a key its id is always the same for the same request of the same caller and the
 * same attempt, so that nobody begins it twice.
 */
export function newTurn(request: TurnRequest, attempt = 0): NewTurn['turn'] {
  const { caller, conversationId } = request;
  return {
    id: idOf(request, attempt),
    ownerId: ownerOf(caller),
    messageId: newId('msg'),
    createdAtMs: Date.now(),
    ...(conversationId === undefined ? {} : { conversationId }),
  };
}

function idOf(request: TurnRequest, attempt: number): string {
  const { caller, key, conversationId = null, messages, model = null, options } = request;
  if (key === undefined) return newId('trn');
  const asked = [ownerOf(caller), key, attempt, conversationId, model, options, messages];
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  return `trn_${digest.slice(0, 32)}`;
}
