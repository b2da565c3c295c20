import { useEffect, useId, useRef, type ReactNode } from 'react';
import { Problem } from '../../ui/problem.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  /** What is lost. */
  readonly children: ReactNode;
  /** The word on the button that does it. */
  readonly action: string;
  readonly isRunning: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Asks before something is destroyed. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { title, children, action, isRunning, error, onConfirm, onCancel } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onCancel}>
      <div className="stack">
        <h2 id={titleId}>{title}</h2>
        <p>{children}</p>
        {error ? <Problem error={error} /> : null}
        <div className="row actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="button" className="danger" disabled={isRunning} onClick={onConfirm}>
            {action}
          </button>
        </div>
      </div>
    </dialog>
  );
}
