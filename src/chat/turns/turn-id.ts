import { createHash } from 'node:crypto';
import { newId } from '../../kit/ids.ts';
import { ownerOf } from '../conversations/conversation.ts';
import type { TurnRequest } from './turn.ts';

/** A new id; with a key the one that the same request of the same caller has always had. */
export function turnIdOf(request: TurnRequest): string {
  const { caller, key, conversationId, messages, model, options } = request;
  if (key === undefined) return newId('trn');
  const asked = [ownerOf(caller), key, conversationId ?? null, model ?? null, options, messages];
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  return `trn_${digest.slice(0, 32)}`;
}
