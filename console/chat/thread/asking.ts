import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { useChat } from '../chat-context.ts';
import { openTurnOf, type Said, type Thread } from './messages.ts';
import { askThreadAnew } from './thread-query.ts';

export interface Asking {
  readonly ask: (text: string) => void;
  readonly stop: () => void;
  /** Goes on from a message in a conversation of its own. */
  readonly branch: (messageId: string) => void;
  /** Asks a question again behind what was before it, in a conversation of its own. */
  readonly askInBranch: (question: Said) => void;
  readonly isBranching: boolean;
  /** Why the last stop or branch was refused. */
  readonly error: Error | null;
}

/** What can be asked for in a conversation. */
export function useAsking({ conversation, messages }: Thread): Asking {
  const { id, model, tools } = conversation;
  const { turns } = useChat();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const stopping = useChange('chat', 'POST /api/chat/stop');
  const branching = useChange('chat', 'POST /api/conversations/:id/branch');
  const creation = useChange('chat', 'POST /api/conversations');
  const place = messages.at(-1)?.place ?? 0;

  const askIn = (conversationId: string, text: string, after: number) => {
    const settled = turns.ask(conversationId, { text, after });
    void settled.then(() => askThreadAnew(client, conversationId));
  };
  const goTo = (conversationId: string) => navigate(`/${conversationId}`);
  const copyUpTo = (messageId: string) => ({ params: { id }, body: { message_id: messageId } });
  const askInBranch = ({ message, text }: Said) => {
    const before = messages.findLast((one) => one.place < (message?.place ?? 0));
    const begin = (begun: { readonly id: string; readonly message_count: number }) => {
      askIn(begun.id, text, begun.message_count);
      goTo(begun.id);
    };
    if (before) return branching.mutate(copyUpTo(before.id), { onSuccess: begin });
    creation.mutate({ body: { model, ...(tools ? { tools } : {}) } }, { onSuccess: begin });
  };
  return {
    ask: (text) => askIn(id, text, place),
    stop: () => stopping.mutate({ body: { conversation_id: id } }),
    branch: (messageId) =>
      branching.mutate(copyUpTo(messageId), { onSuccess: (made) => goTo(made.id) }),
    askInBranch,
    isBranching: branching.isPending || creation.isPending,
    error: stopping.error ?? branching.error ?? creation.error,
  };
}

/** Reads the turn that runs or waits in a conversation, whoever began it. */
export function useOpenTurn({ conversation: { id }, messages }: Thread): {
  readonly waitingCalls: ReadonlySet<string>;
  readonly waitingTurn: string | undefined;
} {
  const { turns } = useChat();
  const client = useQueryClient();
  const approvals = useAnswer('chat', 'GET /api/conversations/:id/approvals', { params: { id } });
  const waitingTurn = approvals.data?.turn_id;
  const openTurn = openTurnOf(messages) ?? waitingTurn;
  useEffect(() => {
    if (openTurn === undefined) return;
    void turns.follow(id, openTurn).then(() => askThreadAnew(client, id));
  }, [turns, client, id, openTurn]);
  const waitingCalls = new Set(approvals.data?.approvals.map((one) => one.call_id));
  return { waitingCalls, waitingTurn };
}
