import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Confirmation } from '../../ui/confirmation.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Conversation } from '../thread/messages.ts';
import { TitleForm } from './title-form.tsx';

export interface ConversationEntryProps {
  readonly conversation: Conversation;
  readonly isOpen: boolean;
}

/** A conversation in the list, to open, rename or delete. */
export function ConversationEntry({ conversation, isOpen }: ConversationEntryProps): ReactNode {
  const [mode, setMode] = useState<'shown' | 'renamed' | 'deleted'>('shown');
  const { id, title, updated_at: updatedAt, branched_from: origin } = conversation;
  const show = () => setMode('shown');
  if (mode === 'renamed') {
    return (
      <li className="conversation">
        <TitleForm id={id} title={title} onDone={show} />
      </li>
    );
  }
  return (
    <li className={isOpen ? 'conversation on' : 'conversation'}>
      <Link
        href={`/${id}`}
        className="conversation-link"
        aria-current={isOpen ? 'page' : undefined}
      >
        <span className="conversation-title">{title}</span>
        <span className="faint">
          {formatAge(updatedAt)}
          {origin ? ' · branch' : ''}
        </span>
      </Link>
      <span className="conversation-actions">
        <button
          type="button"
          className="quiet"
          aria-label={`Rename ${title}`}
          title="Rename"
          onClick={() => setMode('renamed')}
        >
          ✎
        </button>
        <button
          type="button"
          className="quiet"
          aria-label={`Delete ${title}`}
          title="Delete"
          onClick={() => setMode('deleted')}
        >
          ✕
        </button>
      </span>
      {mode === 'deleted' ? <Deletion {...{ conversation, isOpen }} onClose={show} /> : null}
    </li>
  );
}

function Deletion(props: ConversationEntryProps & { readonly onClose: () => void }): ReactNode {
  const { conversation, isOpen, onClose } = props;
  const { id, title, message_count: count } = conversation;
  const [, navigate] = useLocation();
  const deletion = useChange('chat', 'DELETE /api/conversations/:id', {
    onDone: () => {
      if (isOpen) navigate('/');
      onClose();
    },
  });
  return (
    <Confirmation
      title={`Delete “${title}”?`}
      action="Delete"
      change={deletion}
      onConfirm={() => deletion.mutate({ params: { id } })}
      onClose={onClose}
    >
      Its {count} {count === 1 ? 'message is' : 'messages are'} gone for good, in all tabs.
    </Confirmation>
  );
}
