import type { ReactNode } from 'react';
import { Problem } from '../../ui/problem.tsx';
import { useConversations } from './conversation-list-query.ts';
import { ConversationEntry } from './conversation-entry.tsx';

/** The conversations, those that were used last first. */
export function ConversationList({ openId }: { readonly openId: string }): ReactNode {
  const list = useConversations();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className="faint conversations-note">Loading …</p>;
  const conversations = unique(data.pages.flatMap((page) => page.conversations));
  if (conversations.length === 0) {
    return <p className="faint conversations-note">What you ask is kept here.</p>;
  }
  return (
    <>
      <ul className="conversation-list">
        {conversations.map((conversation) => (
          <ConversationEntry
            key={conversation.id}
            conversation={conversation}
            isOpen={conversation.id === openId}
          />
        ))}
      </ul>
      {hasNextPage ? (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      ) : null}
    </>
  );
}

/** One that moved up while pages were read stands on two of them. */
function unique<T extends { readonly id: string }>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((one) => [one.id, one])).values()];
}
