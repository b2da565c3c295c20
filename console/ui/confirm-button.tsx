import { useState, type ReactNode } from 'react';
import { Confirmation } from './confirmation.tsx';

export interface ConfirmButtonProps {
  /** What the button says, and the title of the question. */
  readonly label: string;
  /** What will be lost. */
  readonly children: ReactNode;
  /** The question stays open, and says why, when it rejects. */
  readonly onConfirm: () => Promise<unknown>;
}

/** A button for what destroys something: it asks first. */
export function ConfirmButton({ label, children, onConfirm }: ConfirmButtonProps): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button type="button" className="danger" onClick={() => setIsAsking(true)}>
        {label} …
      </button>
      {isAsking ? (
        <Question label={label} onConfirm={onConfirm} onClose={() => setIsAsking(false)}>
          {children}
        </Question>
      ) : null}
    </>
  );
}

interface QuestionProps extends ConfirmButtonProps {
  readonly onClose: () => void;
}

function Question({ label, children, onConfirm, onClose }: QuestionProps): ReactNode {
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const confirm = async () => {
    setIsPending(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
      setIsPending(false);
    }
  };
  return (
    <Confirmation
      title={`${label}?`}
      action={label}
      change={{ isPending, error }}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      {children}
    </Confirmation>
  );
}
