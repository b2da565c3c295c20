import type { chatContract } from '../../../chat/contract.ts';
import type { Client } from '../../../kit/client.ts';
import type { Hit } from '../../collections/collection.ts';
import { callOptions } from '../call-options.ts';
import { refusedBy } from '../refused-service.ts';
import type { SearchConversations } from './vector-search.ts';

/** What flows call of the chats. */
export type ChatSearch = Pick<Client<typeof chatContract>, 'search'>;

/** The most that the chats answer at once. */
const limitMax = 100;

/**
 * Searches the chats of whoever the execution belongs to, and nobody else's: the service may read all
 * of them, so that schedules and webhooks, which hold no token of their owner's, search too.
 */
export function createChatSearch(chat: ChatSearch): SearchConversations {
  return async ({ query, limit, minScore, filter }, context) => {
    const body = {
      query,
      limit: filter ? limitMax : limit,
      filters: { user_id: context.ownerId },
      ...(minScore !== undefined && { min_score: Math.max(0, minScore) }),
    };
    const { results } = await chat.search({ body }, callOptions(context)).catch(refusedBy('chat'));
    const wanted = Object.entries(filter ?? {});
    return results
      .map(toHit)
      .filter(({ metadata }) => wanted.every(([key, value]) => metadata[key] === value))
      .slice(0, limit);
  };
}

type Found = Awaited<ReturnType<ChatSearch['search']>>['results'][number];

function toHit({ id, content, score, metadata, conversation_id, timestamp }: Found): Hit {
  return { id, content, score, metadata: { ...metadata, conversation_id, timestamp } };
}
