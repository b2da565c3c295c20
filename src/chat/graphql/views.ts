import type { Conversation, Message } from '../conversations/conversation.ts';
import type { Orchestration } from '../orchestrations/orchestration.ts';
import type { ConversationHit } from '../search/search.ts';
import { notNegative, pageLimit } from './arguments.ts';
import type { OperationContext } from './context.ts';

interface MessagesArguments {
  readonly limit?: number | null;
  readonly after?: number | null;
}

/** How the objects of the schema are read from ours; fields of the same name need no word. */
export const views = {
  Conversation: {
    createdAt: ({ createdAtMs }: Conversation) => isoOf(createdAtMs),
    updatedAt: ({ updatedAtMs }: Conversation) => isoOf(updatedAtMs),
    messages: (
      { id, messageCount }: Conversation,
      args: MessagesArguments,
      { loader, budget }: OperationContext,
    ) => {
      const limit = pageLimit(args.limit, { usual: 100, most: 1_000 });
      const after = notNegative('after', args.after);
      const rows = Math.min(limit, Math.max(0, messageCount - after));
      if (rows === 0) return [];
      budget.spendRows(rows);
      return loader.page(id, { limit, after });
    },
  },
  Message: {
    timestamp: ({ createdAtMs }: Message) => isoOf(createdAtMs),
    toolCalls: ({ toolCalls }: Message) => toolCalls ?? [],
  },
  SearchHit: {
    id: ({ conversationId }: ConversationHit) => conversationId,
    relevanceScore: ({ score }: ConversationHit) => score,
    messages: ({ hits }: ConversationHit, _args: unknown, { loader, budget }: OperationContext) => {
      budget.spendRows(hits.length);
      return loader.byIds(hits.map(({ messageId }) => messageId));
    },
  },
  Orchestration: {
    createdAt: ({ createdAtMs }: Orchestration) => isoOf(createdAtMs),
    endedAt: ({ endedAtMs }: Orchestration) => (endedAtMs === undefined ? null : isoOf(endedAtMs)),
  },
};

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
