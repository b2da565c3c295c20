import type { ReactNode } from 'react';
import { Answered } from '../../ui/answered.tsx';
import { useConversations } from './conversation-list-query.ts';
import type { Conversation } from '../thread/messages.ts';
import { ConversationEntry } from './conversation-entry.tsx';

/** The conversations, those that were used last first. */
export function ConversationList({ openId }: { readonly openId: string }): ReactNode {
  const list = useConversations();
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  return (
    <>
      <Answered query={list}>
        {({ pages }) => (
          <Entries
            conversations={unique(pages.flatMap((page) => page.conversations))}
            openId={openId}
          />
        )}
      </Answered>
      {hasNextPage ? (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      ) : null}
    </>
  );
}

interface EntriesProps {
  readonly conversations: readonly Conversation[];
  readonly openId: string;
}

function Entries({ conversations, openId }: EntriesProps): ReactNode {
  if (conversations.length === 0) {
    return <p className="faint conversations-note">What you ask is kept here.</p>;
  }
  return (
    <ul className="conversation-list">
      {conversations.map((conversation) => (
        <ConversationEntry
          key={conversation.id}
          conversation={conversation}
          isOpen={conversation.id === openId}
        />
      ))}
    </ul>
  );
}

/** One that moved up while pages were read stands on two of them. */
function unique<T extends { readonly id: string }>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((one) => [one.id, one])).values()];
}
