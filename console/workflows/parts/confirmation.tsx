import type { ReactNode } from 'react';
import { Problem } from '../../ui/problem.tsx';
import { Modal } from './modal.tsx';

export interface ConfirmationProps {
  readonly title: string;
  /** What the button says that does it. */
  readonly verb: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something is done that is not easily undone. */
export function Confirmation(props: ConfirmationProps): ReactNode {
  const { title, verb, isBusy, error, onConfirm, onClose, children } = props;
  return (
    <Modal title={title} onClose={onClose}>
      {children}
      {error ? <Problem error={error} /> : null}
      <div className="row workflow-end">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={onConfirm}>
          {verb}
        </button>
      </div>
    </Modal>
  );
}
