import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Heading } from '../../ui/heading.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import { useTurn } from '../chat-context.ts';
import { ToolChoice } from '../tools/tool-choice.tsx';
import type { LiveTurn } from '../turns/live-turn.ts';
import { useAsking, useOpenTurn } from './asking.ts';
import { Composer } from './composer.tsx';
import { arrange, type Conversation, type Thread } from './messages.ts';
import { anyModel, ModelChoice } from './model-choice.tsx';
import { useStickyScroll } from './sticky-scroll.ts';
import { ThreadItems } from './thread-items.tsx';
import { tellConversation } from './thread-query.ts';

export interface OpenConversationProps {
  readonly thread: Thread;
  readonly onEarlier: () => void;
}

/** A conversation: what was said, and where more is asked. */
export function OpenConversation({ thread, onEarlier }: OpenConversationProps): ReactNode {
  const { conversation, messages } = thread;
  const turn = useTurn(conversation.id);
  const asking = useAsking(thread);
  const { waitingCalls, waitingTurn } = useOpenTurn(thread);
  const { scroller, content, isAtEnd, toEnd } = useStickyScroll();
  const isRunning = isBusy(thread, turn) || waitingTurn !== undefined;
  const ask = (text: string) => {
    asking.ask(text);
    toEnd();
  };
  return (
    <>
      <ThreadHead conversation={conversation} />
      <div className="thread-scroller" ref={scroller}>
        <div className="thread-content" ref={content} role="log" aria-label="What was said">
          {isWhole(messages) ? null : (
            <button type="button" className="thread-earlier" onClick={onEarlier}>
              Show earlier messages
            </button>
          )}
          <ThreadItems
            conversationId={conversation.id}
            items={arrange(messages, turn)}
            asking={{ ...asking, ask }}
            approval={waitingTurn ? { turnId: waitingTurn, calls: waitingCalls } : undefined}
            messages={messages}
            failure={turn?.status === 'failed' ? turn.error : undefined}
          />
        </div>
      </div>
      {isAtEnd ? null : (
        <button type="button" className="thread-newest" onClick={toEnd}>
          ↓ Newest
        </button>
      )}
      {asking.error ? <Problem error={asking.error} /> : null}
      <Composer
        draftKey={conversation.id}
        isBusy={isRunning || asking.isBranching}
        onSend={ask}
        onStop={isRunning ? asking.stop : undefined}
      />
    </>
  );
}

function isBusy({ messages }: Thread, turn: LiveTurn | undefined): boolean {
  return turn?.status === 'running' || messages.at(-1)?.status === 'pending';
}

function isWhole([first]: Thread['messages']): boolean {
  return first === undefined || first.place === 1;
}

function ThreadHead({ conversation }: { readonly conversation: Conversation }): ReactNode {
  const { id, title, model, total_tokens: tokens, cost } = conversation;
  const client = useQueryClient();
  const change = useChange('chat', 'PATCH /api/conversations/:id');
  const choose = (chosen: string) => {
    change.mutate(
      { params: { id }, body: { model: chosen === anyModel ? null : chosen } },
      { onSuccess: (changed) => tellConversation(client, changed) },
    );
  };
  return (
    <header className="thread-head">
      <Heading>{title}</Heading>
      <span className="faint">
        {formatCount(tokens)} tokens · {formatDollars(cost)}
      </span>
      <div className="actions">
        <ModelChoice model={model} onChoose={choose} />
        <ToolChoice conversationId={id} />
      </div>
      {change.error ? <Problem error={change.error} /> : null}
    </header>
  );
}
