import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import { Heading } from '../../ui/heading.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useChat } from '../chat-context.ts';
import { Composer } from '../thread/composer.tsx';
import { anyModel, ModelChoice } from '../thread/model-choice.tsx';

/** A conversation that begins with its first question. */
export function NewConversation(): ReactNode {
  const { turns, drafts } = useChat();
  const [model, setModel] = useState(anyModel);
  const [failureCount, setFailureCount] = useState(0);
  const [, navigate] = useLocation();
  // The list hears of it by itself; the question waits for nothing else.
  const creation = useMutation({
    mutationFn: () =>
      call('chat', 'POST /api/conversations', { body: model === anyModel ? {} : { model } }),
  });
  const begin = (text: string) => {
    creation.mutate(undefined, {
      onSuccess: ({ id }) => {
        void turns.ask(id, { text, after: 0 });
        navigate(`/${id}`);
      },
      onError: () => {
        drafts.set('', text);
        setFailureCount((count) => count + 1);
      },
    });
  };
  return (
    <section className="thread" aria-label="New conversation">
      <header className="thread-head">
        <Heading>New chat</Heading>
        <div className="actions">
          <ModelChoice model={model} onChoose={setModel} />
        </div>
      </header>
      <div className="thread-welcome">
        <h2>What would you like to know?</h2>
        <p className="faint">
          The conversation is kept. Its models, tools and costs are those of your account.
        </p>
      </div>
      {creation.error ? <Problem error={creation.error} /> : null}
      <Composer key={failureCount} draftKey="" isBusy={creation.isPending} onSend={begin} />
    </section>
  );
}
