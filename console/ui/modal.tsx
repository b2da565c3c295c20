import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

export interface ModalProps {
  readonly title: string;
  /** Without it the dialog stays until its owner takes it away. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

/** A dialog before the page; Escape closes it where it may be closed. */
export function Modal({ title, onClose, children }: ModalProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Closed while it still stands in the page: only then the focus goes back to what opened it.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      {...(onClose ? {} : { closedby: 'none' })}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div className="stack">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
