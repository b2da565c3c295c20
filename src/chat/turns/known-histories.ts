import { LRUCache } from 'lru-cache';
import type { Added, Message } from '../conversations/conversation.ts';
import { historyMessagesMax, pastOf } from './history.ts';
import type { PastMessage } from './turn-row.ts';

/** All messages of a conversation, from the first on. */
export interface KnownHistory {
  /** The conversation's: one of the same id may have been created anew. */
  readonly createdAtMs: number;
  readonly messages: readonly PastMessage[];
}

/** Of all histories together, and of one, in UTF-16 units. */
const lengthMax = 16 * 1024 * 1024;
const lengthOfOneMax = 1024 * 1024;
/** What a message takes besides its texts. */
const overhead = 100;

/**
 * What was said in the conversations whose turns ran here last, so that the next turn need not read it
 * again. Messages have no gaps and never change once they have ended: a history is the stored one as long
 * as the conversation has as many messages.
 */
export class KnownHistories {
  readonly #known = new LRUCache<string, KnownHistory>({
    maxSize: lengthMax,
    maxEntrySize: lengthOfOneMax,
    sizeCalculation: ({ messages }) => messages.reduce((sum, one) => sum + lengthOf(one), 1),
  });

  /** Undefined while an answer in it is still to come: another replica may write it. */
  find(conversationId: string): KnownHistory | undefined {
    const known = this.#known.get(conversationId);
    const isOpen = known?.messages.some(({ status }) => status === 'pending');
    return isOpen ? undefined : known;
  }

  /** Keeps what was there before messages were added, with them, if that is all. */
  keep({ conversation, messages: added }: Added, before: readonly PastMessage[]): void {
    const { id, createdAtMs, messageCount } = conversation;
    const messages = [...before, ...added.map(pastOf)];
    if (messages.length === messageCount) this.#set(id, { createdAtMs, messages });
    else this.#known.delete(id);
  }

  /** Messages were added behind what is known, or others had added some before. */
  append(conversationId: string, added: readonly Message[]): void {
    const known = this.#known.get(conversationId);
    if (!known) return;
    const messages = [...known.messages, ...added.map(pastOf)];
    if (messages.length === added.at(-1)?.place) this.#set(conversationId, { ...known, messages });
    else this.#known.delete(conversationId);
  }

  /** A message of it has ended; what others began is not known here. */
  complete(message: Message): void {
    const { conversationId, place } = message;
    const known = this.#known.get(conversationId);
    if (!known) return;
    if (known.messages[place - 1]?.status !== 'pending') {
      this.#known.delete(conversationId);
      return;
    }
    const messages = known.messages.with(place - 1, pastOf(message));
    this.#set(conversationId, { ...known, messages });
  }

  #set(conversationId: string, known: KnownHistory): void {
    if (known.messages.length <= historyMessagesMax) this.#known.set(conversationId, known);
    else this.#known.delete(conversationId);
  }
}

function lengthOf({ content, parts, tool_calls: calls }: PastMessage): number {
  return overhead + content.length + (parts?.length ?? 0) + (calls?.length ?? 0);
}
