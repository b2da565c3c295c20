import { createHash } from 'node:crypto';
import type { Conversations } from './conversation.ts';

/** Where something is to be said, and what: in a conversation, or in a new one. */
export interface FirstMessage {
  readonly ownerId: string;
  readonly conversationId: string | undefined;
  /** Of a new one. */
  readonly model?: string | undefined;
  readonly content: string;
  /** The same message with the same key begins one conversation only. */
  readonly key?: string | undefined;
}

type Opened = Pick<Conversations, 'create' | 'ensure' | 'find' | 'remove'>;

/**
 * Says something in a conversation; where there is none yet, in a new one, which is taken back when
 * nothing was said in it.
 */
export async function sayIn<Said>(
  conversations: Opened,
  message: FirstMessage,
  say: (conversationId: string) => Promise<Said>,
): Promise<Said> {
  if (message.conversationId !== undefined) return say(message.conversationId);
  const { id, isNew } = await open(conversations, message);
  try {
    return await say(id);
  } catch (error) {
    if (isNew) await removeEmpty(conversations, message.ownerId, id);
    throw error;
  }
}

async function open(
  conversations: Opened,
  { ownerId, model, content, key }: FirstMessage,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const named = model === undefined ? {} : { model };
  if (key === undefined) {
    const { id } = await conversations.create(ownerId, named);
    return { id, isNew: true };
  }
  const said = JSON.stringify([ownerId, key, model, content]);
  const id = `cnv_${createHash('sha256').update(said).digest('hex').slice(0, 32)}`;
  return { id, isNew: await conversations.ensure(ownerId, id, named) };
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
