import { useState, type ReactNode } from 'react';
import { Answered } from '../../ui/answered.tsx';
import { OpenConversation } from './open-conversation.tsx';
import { useThread } from './thread-query.ts';

const pageSize = 60;

/** One conversation, from its newest messages backwards. */
export function ConversationView({ id }: { readonly id: string }): ReactNode {
  const [shownCount, setShownCount] = useState(pageSize);
  const thread = useThread(id, shownCount);
  return (
    <section className="thread" aria-label="Conversation">
      <Answered query={thread} title="Conversation">
        {(answer) => (
          <OpenConversation
            thread={answer}
            onEarlier={() => setShownCount((count) => count + pageSize)}
          />
        )}
      </Answered>
    </section>
  );
}
