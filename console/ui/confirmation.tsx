import type { ReactNode } from 'react';
import { ChangeForm, type ChangeState } from './change-form.tsx';
import { Modal } from './modal.tsx';

export interface ConfirmationProps {
  /** The question. */
  readonly title: string;
  /** What the button that goes on says. */
  readonly action: string;
  readonly change: ChangeState;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** What follows from it. */
  readonly children?: ReactNode;
}

/** Asks before something is destroyed. */
export function Confirmation(props: ConfirmationProps): ReactNode {
  const { title, action, change, onConfirm, onClose, children } = props;
  return (
    <Modal title={title} onClose={onClose}>
      <ChangeForm
        change={change}
        action={action}
        isDestructive
        onSubmit={onConfirm}
        onCancel={onClose}
        cancelText="Back"
      >
        {children}
      </ChangeForm>
    </Modal>
  );
}
