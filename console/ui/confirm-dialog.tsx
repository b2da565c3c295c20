import type { ReactNode } from 'react';
import { ChangeForm, type ChangeState } from './change-form.tsx';
import { Dialog } from './dialog.tsx';

export interface ConfirmDialogProps {
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
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { title, action, change, onConfirm, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <ChangeForm
        change={change}
        action={action}
        isDestructive
        onSubmit={onConfirm}
        onCancel={onClose}
      >
        {children}
      </ChangeForm>
    </Dialog>
  );
}
