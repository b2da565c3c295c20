import {
  useInfiniteQuery,
  type InfiniteData,
  type QueryClient,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';

type ListPage = Answer<'chat', 'GET /api/conversations'>;

const listKey = ['chat', 'conversations'];
const pageSize = 30;

/** The user's conversations, those that were used last first, page by page. */
export function useConversations(): UseInfiniteQueryResult<InfiniteData<ListPage>> {
  return useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam: offset }) =>
      call('chat', 'GET /api/conversations', { query: { limit: pageSize, offset } }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total }) =>
      offset + limit < total ? offset + limit : undefined,
  });
}

export function askListAnew(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: listKey });
}
