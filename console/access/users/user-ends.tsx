import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { call } from '../../api/call.ts';
import { useRemoval } from '../../api/removal.ts';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { User } from '../answers.ts';

/** What shuts a user out, or lets one in again. */
export function UserEnds({ user }: { readonly user: User }): ReactNode {
  const { id, username, disabled } = user;
  const [asked, setAsked] = useState<'disable' | 'second-factor' | 'delete'>();
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  const close = () => setAsked(undefined);
  return (
    <section className="card stack" aria-label="Access of the user">
      <h2>Access</h2>
      <div className="row wrapping">
        {disabled ? (
          <button
            type="button"
            disabled={change.isPending}
            onClick={() => change.mutate({ params: { id }, body: { disabled: false } })}
          >
            Let in again
          </button>
        ) : (
          <button type="button" className="danger" onClick={() => setAsked('disable')}>
            Disable
          </button>
        )}
        <button type="button" className="danger" onClick={() => setAsked('second-factor')}>
          Reset the second factor
        </button>
        <button type="button" className="danger" onClick={() => setAsked('delete')}>
          Delete
        </button>
      </div>
      {change.error && asked === undefined ? <Problem error={change.error} /> : null}
      {asked === 'disable' ? (
        <Confirmation
          title={`Disable ${username}?`}
          action="Disable"
          change={change}
          onConfirm={() =>
            change.mutate({ params: { id }, body: { disabled: true } }, { onSuccess: close })
          }
          onClose={close}
        >
          <p>Every token and session of the user ends at once. You can let the user in again.</p>
        </Confirmation>
      ) : null}
      {asked === 'second-factor' ? <ResetDialog user={user} onClose={close} /> : null}
      {asked === 'delete' ? <DeleteDialog user={user} onClose={close} /> : null}
    </section>
  );
}

interface EndDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

function ResetDialog({ user: { id, username }, onClose }: EndDialogProps) {
  const reset = useChange('auth', 'DELETE /api/v1/auth/users/:id/mfa');
  return (
    <Confirmation
      title={`Reset the second factor of ${username}?`}
      action="Reset it"
      change={reset}
      onConfirm={() => reset.mutate({ params: { id } })}
      onClose={onClose}
    >
      <p>For who has lost it: the password alone is enough then, until a new one is set up.</p>
      {reset.data ? (
        <output>{reset.data.reset ? 'It is reset.' : 'There was none in force.'}</output>
      ) : null}
    </Confirmation>
  );
}

function DeleteDialog({ user: { id, username }, onClose }: EndDialogProps) {
  const [, navigate] = useLocation();
  const deletion = useRemoval({
    service: 'auth',
    remove: () => call('auth', 'DELETE /api/v1/auth/users/:id', { params: { id } }),
    onRemoved: () => navigate('/users'),
  });
  return (
    <Confirmation
      title={`Delete ${username}?`}
      action="Delete the user"
      change={deletion}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      <p>Sessions and API keys of the user go too. The audit log keeps what was done.</p>
    </Confirmation>
  );
}
