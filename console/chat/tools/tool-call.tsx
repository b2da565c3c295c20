import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Decision } from '../../ui/decision.tsx';
import { readNested } from '../../ui/entry-text.ts';
import { JsonView } from '../../ui/json-view.tsx';
import type { ShownCall } from '../thread/messages.ts';

export interface ToolCallProps {
  readonly conversationId: string;
  readonly call: ShownCall;
  /** The turn that waits for the user's word on it. */
  readonly approvalTurn: string | undefined;
}

/** A call of a tool: with what, what came of it, and the question whether it may be. */
export function ToolCall({ conversationId, call, approvalTurn }: ToolCallProps): ReactNode {
  const { name, arguments: text, result } = call;
  const isWaiting = approvalTurn !== undefined;
  return (
    <section className="tool-call" aria-label={`Call of ${name}`}>
      <details open={isWaiting}>
        <summary>
          <code>{name}</code> <CallState call={call} isWaiting={isWaiting} />
        </summary>
        <JsonView value={readNested(text)} />
        {result ? <JsonView value={readNested(result.content)} /> : null}
      </details>
      {isWaiting ? (
        <Approval {...{ conversationId }} callId={call.id} turnId={approvalTurn} />
      ) : null}
    </section>
  );
}

function CallState({ call, isWaiting }: { readonly call: ShownCall; readonly isWaiting: boolean }) {
  const { result, isApproved } = call;
  if (isWaiting) return <Badge state="waits for you" tone="warning" />;
  if (result?.isError) return <Badge state="failed" />;
  if (isApproved === false) return <Badge state="refused" tone="neutral" />;
  return result ? <Badge state="answered" tone="good" /> : <Badge state="called" tone="busy" />;
}

interface ApprovalProps {
  readonly conversationId: string;
  readonly turnId: string;
  readonly callId: string;
}

function Approval({ conversationId, turnId, callId }: ApprovalProps): ReactNode {
  const approval = useChange('chat', 'POST /api/conversations/:id/approvals');
  const answer = (approved: boolean) => {
    const body = { turn_id: turnId, answers: [{ call_id: callId, approved }] };
    approval.mutate({ params: { id: conversationId }, body });
  };
  return <Decision change={approval} refusal="Deny" onDecide={answer} />;
}
