import { useQuery, type QueryClient, type UseQueryResult } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import {
  withMessage,
  type Conversation,
  type Detail,
  type Message,
  type Thread,
} from './messages.ts';

const operation = 'GET /api/conversations/:id';
const threadKey = (id: string) => ['chat', 'thread', id];

/** The newest messages of a conversation, so many of them. */
export function useThread(id: string, shownCount: number): UseQueryResult<Thread> {
  return useQuery({
    queryKey: [...threadKey(id), shownCount],
    queryFn: () => readThread(id, shownCount),
    // What is there stays while more of it comes.
    placeholderData: (known, query) => (query?.queryKey[2] === id ? known : undefined),
  });
}

async function readThread(id: string, shownCount: number): Promise<Thread> {
  const params = { id };
  const { message_count: count } = await call('chat', operation, { params, query: { limit: 1 } });
  let after: number | undefined = Math.max(0, count - shownCount);
  const messages: Message[] = [];
  for (;;) {
    const detail: Detail = await call('chat', operation, { params, query: { after } });
    messages.push(...detail.messages);
    after = detail.next;
    if (after === undefined) return { conversation: detail, messages };
  }
}

/** Shows a message that is new or has changed, without asking. */
export function tellMessage(client: QueryClient, conversationId: string, message: Message): void {
  client.setQueriesData<Thread>({ queryKey: threadKey(conversationId) }, (thread) =>
    thread ? { ...thread, messages: withMessage(thread.messages, message) } : thread,
  );
}

/** Shows a conversation's new title, model, tools and sums, without asking. */
export function tellConversation(client: QueryClient, conversation: Conversation): void {
  client.setQueriesData<Thread>({ queryKey: threadKey(conversation.id) }, (thread) =>
    thread ? { ...thread, conversation } : thread,
  );
}

export function askThreadAnew(client: QueryClient, conversationId: string): Promise<void> {
  return client.invalidateQueries({ queryKey: threadKey(conversationId) });
}
