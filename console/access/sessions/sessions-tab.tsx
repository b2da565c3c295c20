import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useIsAllowed } from '../../session/person.ts';
import { Problem } from '../../ui/problem.tsx';
import { textOf } from '../../ui/form-values.ts';
import { findUser } from '../../api/find-user.ts';
import type { User } from '../answers.ts';
import { SessionList } from './session-list.tsx';

/** One's own sessions, and for administrators those of any user. */
export function SessionsTab(): ReactNode {
  const isAdministrator = useIsAllowed('auth:admin');
  const [user, setUser] = useState<User>();
  return (
    <div className="stack">
      {isAdministrator ? <UserChoice user={user} onChoose={setUser} /> : null}
      {user ? <SessionList key={user.id} userId={user.id} /> : <SessionList />}
    </div>
  );
}

interface UserChoiceProps {
  readonly user: User | undefined;
  readonly onChoose: (user: User | undefined) => void;
}

function UserChoice({ user, onChoose }: UserChoiceProps) {
  const search = useMutation({ mutationFn: findUser, onSuccess: onChoose });
  return (
    <>
      <form
        className="row search"
        onSubmit={(event) => {
          event.preventDefault();
          search.mutate(textOf(new FormData(event.currentTarget), 'user').trim());
        }}
      >
        <input name="user" aria-label="User name or id" placeholder="User name or id" required />
        <button type="submit" disabled={search.isPending}>
          Show the user’s sessions
        </button>
        {user ? (
          <button type="button" className="quiet" onClick={() => onChoose(undefined)}>
            Show mine
          </button>
        ) : null}
      </form>
      {search.error ? <Problem error={search.error} /> : null}
      <h2>{user ? `Sessions of ${user.username}` : 'Your sessions'}</h2>
    </>
  );
}
