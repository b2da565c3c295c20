import type { ReactNode } from 'react';
import { Modal } from '../ui/modal.tsx';
import { LoginForm, type LoginProps } from './login-page.tsx';

/** Stands before what somebody was doing when the session ended; they go on with it. */
export function SessionEnded({ onLogin }: LoginProps): ReactNode {
  return (
    <Modal title="Your session has ended">
      <p className="faint">Log in to go on where you were.</p>
      <LoginForm onLogin={onLogin} />
    </Modal>
  );
}
