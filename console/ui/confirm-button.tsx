import { useState, type ReactNode } from 'react';
import { Modal } from './modal.tsx';
import { Problem } from './problem.tsx';

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
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        {label} …
      </button>
      {isAsking ? (
        <Question label={label} onConfirm={onConfirm} onClose={() => setAsking(false)}>
          {children}
        </Question>
      ) : null}
    </>
  );
}

function Question({
  label,
  children,
  onConfirm,
  onClose,
}: ConfirmButtonProps & { readonly onClose: () => void }): ReactNode {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error>();
  const confirm = async () => {
    setRunning(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught instanceof Error ? caught : new Error(String(caught)));
      setRunning(false);
    }
  };
  return (
    <Modal title={`${label}?`} onClose={onClose}>
      <div className="stack">
        <div>{children}</div>
        {error ? <Problem error={error} /> : null}
        <div className="row">
          <button
            type="button"
            className="danger"
            disabled={isRunning}
            onClick={() => void confirm()}
          >
            {label}
          </button>
          <button type="button" onClick={onClose}>
            Keep
          </button>
        </div>
      </div>
    </Modal>
  );
}
