import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AnswerView, type Approval } from './answer-view.tsx';
import type { Asking } from './asking.ts';
import { questionBefore, type Item, type Message, type Said } from './messages.ts';

export interface ThreadItemsProps {
  readonly conversationId: string;
  readonly items: readonly Item[];
  readonly messages: readonly Message[];
  readonly asking: Asking;
  /** The calls that wait for the user. */
  readonly approval: Approval | undefined;
  /** Why the last turn failed. */
  readonly failure: Error | undefined;
}

/** What was said, one below the other. */
export function ThreadItems(props: ThreadItemsProps): ReactNode {
  const { conversationId, items, messages, asking, approval, failure } = props;
  const question = items.findLast((item): item is Said => item.type === 'said');
  const lastId = items.at(-1)?.id;
  if (items.length === 0) return <p className="faint">Nothing was said yet.</p>;
  return (
    <>
      {items.map((item) =>
        item.type === 'said' ? (
          <SaidView key={item.id} said={item} />
        ) : (
          <AnswerView
            key={item.id}
            conversationId={conversationId}
            answer={item}
            approval={approval}
            startedAt={startOf(messages, item.message)}
            onBranch={() => asking.branch(item.id)}
            onRetry={retryOf({ items, item, lastId, asking })}
          />
        ),
      )}
      {failure ? (
        <Problem
          error={failure}
          {...(question ? { onRetry: () => asking.ask(question.text) } : {})}
        />
      ) : null}
    </>
  );
}

/** The last answer is asked for again where it stands, unless it is whole; others in a branch. */
function retryOf({
  items,
  item,
  lastId,
  asking,
}: {
  readonly items: readonly Item[];
  readonly item: Item & { readonly type: 'answer' };
  readonly lastId: string | undefined;
  readonly asking: Asking;
}): (() => void) | undefined {
  const question = questionBefore(items, item.id);
  if (!question || item.status === 'pending') return undefined;
  const isWhole = item.status === 'complete';
  return item.id === lastId && !isWhole
    ? () => asking.ask(question.text)
    : () => asking.askInBranch(question);
}

function SaidView({ said }: { readonly said: Said }): ReactNode {
  const { role, text, message } = said;
  return (
    <article className={`said ${role}`} aria-label={role === 'user' ? 'You' : 'Instruction'}>
      <div className="said-text">{text}</div>
      <footer className="message-foot">
        {message ? <CopyButton text={text} /> : <span className="faint">sending …</span>}
      </footer>
    </article>
  );
}

/** When the turn of a message began. */
function startOf(messages: readonly Message[], message: Message | undefined): string | undefined {
  const turnId = message?.turn_id;
  if (turnId === undefined) return undefined;
  return messages.find((one) => one.turn_id === turnId)?.timestamp;
}
