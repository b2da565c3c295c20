import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Confirmation } from './confirmation.tsx';

export interface ConfirmButtonProps {
  /** What the button says. */
  readonly label: string;
  /** What it is done to, where others of its kind stand beside it. */
  readonly subject?: string;
  /** The question; the label with its subject unless told. */
  readonly title?: string;
  /** What the button that goes on says; the label unless told. */
  readonly action?: string;
  /** What follows from it. */
  readonly children: ReactNode;
  /** The question stays open, and says why, when it rejects. */
  readonly onConfirm: () => Promise<unknown>;
}

/** A button for what destroys something: it asks first. */
export function ConfirmButton(props: ConfirmButtonProps): ReactNode {
  const { label, subject } = props;
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button
        type="button"
        className="danger"
        aria-haspopup="dialog"
        aria-label={subject === undefined ? undefined : `${label} ${subject} …`}
        onClick={() => setIsAsking(true)}
      >
        {label} …
      </button>
      {isAsking ? <Question {...props} onClose={() => setIsAsking(false)} /> : null}
    </>
  );
}

function Question(props: ConfirmButtonProps & { readonly onClose: () => void }): ReactNode {
  const { label, subject, action = label, onConfirm, onClose, children } = props;
  const { title = `${subject === undefined ? label : `${label} ${subject}`}?` } = props;
  const change = useMutation({ mutationFn: () => onConfirm(), onSuccess: onClose });
  return (
    <Confirmation
      title={title}
      action={action}
      change={change}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      {children}
    </Confirmation>
  );
}
