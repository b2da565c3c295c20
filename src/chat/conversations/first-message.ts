import type { Conversations } from './conversation.ts';

/** Where something is to be said: in a conversation, or in a new one. */
export interface Place {
  readonly ownerId: string;
  readonly conversationId: string | undefined;
  /** Of a new one. */
  readonly model?: string | undefined;
}

/**
 * Says something in a conversation; where there is none yet, in a new one, which is taken back when
 * nothing was said in it.
 */
export async function sayIn<Said>(
  conversations: Pick<Conversations, 'create' | 'find' | 'remove'>,
  { ownerId, conversationId, model }: Place,
  say: (conversationId: string) => Promise<Said>,
): Promise<Said> {
  if (conversationId !== undefined) return say(conversationId);
  const { id } = await conversations.create(ownerId, model === undefined ? {} : { model });
  try {
    return await say(id);
  } catch (error) {
    await removeEmpty(conversations, ownerId, id);
    throw error;
  }
}

async function removeEmpty(
  conversations: Pick<Conversations, 'find' | 'remove'>,
  ownerId: string,
  id: string,
): Promise<void> {
  try {
    const { messageCount } = await conversations.find(ownerId, id);
    if (messageCount === 0) await conversations.remove(ownerId, id);
  } catch {
    // The refusal that led here is the one to tell.
  }
}
