import type { Conversations } from '../conversations/conversation.ts';
import type { Turns } from './turn.ts';

export interface StopParts {
  readonly turns: Pick<Turns, 'find' | 'stop'>;
  readonly conversations: Pick<Conversations, 'find'>;
}

/** False when it had ended; rejects with `not_found` where its owner has no such turn or conversation. */
export async function stopAnswer(
  { turns, conversations }: StopParts,
  ...[ownerId, which]: Parameters<Turns['stop']>
): Promise<boolean> {
  if ('turnId' in which) await turns.find(ownerId, which.turnId);
  else await conversations.find(ownerId, which.conversationId);
  return await turns.stop(ownerId, which);
}
