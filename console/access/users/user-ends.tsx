import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { User } from '../answers.ts';

interface UserProps {
  readonly user: User;
}

/** What shuts a user out, or lets one in again. */
export function UserEnds({ user }: UserProps): ReactNode {
  const { id, username } = user;
  const reset = useChange('auth', 'DELETE /api/v1/auth/users/:id/mfa');
  return (
    <section className="card stack" aria-label="Access of the user">
      <h2>Access</h2>
      <div className="row wrapping">
        {user.disabled ? <Enabling user={user} /> : <Disabling user={user} />}
        <ConfirmButton
          label="Reset the second factor"
          title={`Reset the second factor of ${username}?`}
          action="Reset it"
          onConfirm={() => reset.mutateAsync({ params: { id } })}
        >
          <p>For who has lost it: the password alone is enough then, until a new one is set up.</p>
        </ConfirmButton>
        <Deletion user={user} />
      </div>
      {reset.data ? (
        <output>{reset.data.reset ? 'It is reset.' : 'There was none in force.'}</output>
      ) : null}
    </section>
  );
}

function Enabling({ user: { id } }: UserProps) {
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  return (
    <>
      <button
        type="button"
        disabled={change.isPending}
        onClick={() => change.mutate({ params: { id }, body: { disabled: false } })}
      >
        Let in again
      </button>
      {change.error ? <Problem error={change.error} /> : null}
    </>
  );
}

function Disabling({ user: { id, username } }: UserProps) {
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  return (
    <ConfirmButton
      label="Disable"
      title={`Disable ${username}?`}
      onConfirm={() => change.mutateAsync({ params: { id }, body: { disabled: true } })}
    >
      <p>Every token and session of the user ends at once. You can let the user in again.</p>
    </ConfirmButton>
  );
}

function Deletion({ user: { id, username } }: UserProps) {
  const [, navigate] = useLocation();
  const deletion = useChange('auth', 'DELETE /api/v1/auth/users/:id', {
    onDone: () => navigate('/users'),
  });
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${username}?`}
      action="Delete the user"
      onConfirm={() => deletion.mutateAsync({ params: { id } })}
    >
      <p>Sessions and API keys of the user go too. The audit log keeps what was done.</p>
    </ConfirmButton>
  );
}
