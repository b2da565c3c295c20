import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';
import { MarkdownView } from '../text/markdown-view.tsx';
import { ToolCall } from '../tools/tool-call.tsx';
import { AnswerTrace } from './answer-trace.tsx';
import type { Answered, Message } from './messages.ts';

/** The calls of a turn that wait for their user. */
export interface Approval {
  readonly turnId: string;
  readonly calls: ReadonlySet<string>;
}

export interface AnswerViewProps {
  readonly conversationId: string;
  readonly answer: Answered;
  readonly approval: Approval | undefined;
  /** When its question was asked. */
  readonly startedAt: string | undefined;
  readonly onBranch: () => void;
  readonly onRetry: (() => void) | undefined;
}

const statusNotes: Readonly<Record<string, string>> = {
  stopped: 'stopped',
  interrupted: 'broke off',
};

/** What a model said, what it called, and what that took. */
export function AnswerView(props: AnswerViewProps): ReactNode {
  const { conversationId, answer, approval } = props;
  const { model, text, reasoning, calls, status } = answer;
  const isWriting = status === 'pending';
  return (
    <article
      className="answer"
      aria-label={`Answer of ${model ?? 'a model'}`}
      aria-busy={isWriting}
    >
      {reasoning === '' ? null : (
        <details className="reasoning" open={isWriting && text === ''}>
          <summary>Thoughts</summary>
          <div className="said-text">{reasoning}</div>
        </details>
      )}
      <MarkdownView text={text} />
      {isWriting ? <output className="writing" aria-label="is being written" /> : null}
      {calls.map((call) => (
        <ToolCall
          key={call.id}
          call={call}
          approvalTurn={approval?.calls.has(call.id) ? approval.turnId : undefined}
          conversationId={conversationId}
        />
      ))}
      {isWriting ? null : <AnswerFoot {...props} />}
    </article>
  );
}

function AnswerFoot({ answer, startedAt, onBranch, onRetry }: AnswerViewProps): ReactNode {
  const { model, text, status, message } = answer;
  return (
    <footer className="message-foot">
      <span className="faint">
        {[statusNotes[status], model, usageOf(message)].filter(Boolean).join(' · ')}
      </span>
      {text === '' ? null : <CopyButton text={text} />}
      {message ? (
        <button
          type="button"
          className="quiet"
          title="Go on from here in a conversation of its own"
          onClick={onBranch}
        >
          Branch
        </button>
      ) : null}
      {onRetry ? (
        <button type="button" className="quiet" onClick={onRetry}>
          Ask again
        </button>
      ) : null}
      {startedAt === undefined ? null : <AnswerTrace startedAt={startedAt} />}
    </footer>
  );
}

function usageOf(message: Message | undefined): string {
  const usage = message?.usage;
  if (!usage) return '';
  const { prompt_tokens: prompt, completion_tokens: completion, cost } = usage;
  const tokens = `${formatCount(prompt)} + ${formatCount(completion)} tokens`;
  return cost === undefined ? tokens : `${tokens} · ${formatDollars(cost)}`;
}
