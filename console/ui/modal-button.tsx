import { useState, type ReactNode } from 'react';
import { Modal } from './modal.tsx';

export interface ModalButtonProps {
  /** What the button says. */
  readonly label: string;
  /** What it is about, where others of its kind stand beside it. */
  readonly subject?: string;
  /** The dialog's title; the label with its subject unless told. */
  readonly title?: string;
  readonly look?: 'primary' | 'danger' | 'quiet';
  /** What is in the dialog, and may close it. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export function ModalButton({ label, subject, look, children, ...props }: ModalButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  const whole = subject === undefined ? label : `${label} ${subject}`;
  return (
    <>
      <button
        type="button"
        className={look}
        aria-haspopup="dialog"
        aria-label={subject === undefined ? undefined : whole}
        onClick={() => setIsOpen(true)}
      >
        {label}
      </button>
      {isOpen ? (
        <Modal title={props.title ?? whole} onClose={close}>
          {children(close)}
        </Modal>
      ) : null}
    </>
  );
}
