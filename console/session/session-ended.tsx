import { useEffect, useState, type ReactNode } from 'react';
import { Modal } from '../ui/modal.tsx';
import { LoginForm, type LoginProps } from './login-page.tsx';

/** Stands before what somebody was doing when the session ended; they go on with it. */
export function SessionEnded({ onLogin }: LoginProps): ReactNode {
  useFocusBack();
  return (
    <Modal title="Your session has ended">
      <p className="faint">Log in to go on where you were.</p>
      <LoginForm onLogin={onLogin} />
    </Modal>
  );
}

/** Gives the focus back to what had it, which is hidden, and takes none, until the login is gone. */
function useFocusBack(): void {
  const [focused] = useState(() => document.activeElement);
  useEffect(() => {
    return () => {
      if (focused instanceof HTMLElement) focused.focus();
    };
  }, [focused]);
}
