import type { FormEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { textOf } from '../../ui/form-values.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import type { User } from '../answers.ts';
import { NewUserForm } from './new-user-form.tsx';
import { UserBadge } from './user-badge.tsx';

const limit = 50;

/** All users, or the one of a name. */
export function UsersTab(): ReactNode {
  const [offset, setOffset] = useKept('offset', 0);
  const [username, setUsername] = useKept('username', '');
  const listed = useAnswer('auth', 'GET /api/v1/auth/users', {
    query: { limit, offset, ...(username ? { username } : {}) },
  });
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setOffset(0);
    setUsername(textOf(new FormData(event.currentTarget), 'username').trim());
  };
  return (
    <div className="stack">
      <div className="row">
        <ModalButton label="New user" look="primary">
          {(close) => <NewUserForm onClose={close} />}
        </ModalButton>
        <form className="row search" onSubmit={find}>
          <input
            type="search"
            name="username"
            defaultValue={username}
            aria-label="Whole user name"
            placeholder="Whole user name"
          />
          <button type="submit">Find</button>
        </form>
      </div>
      <Answered query={listed}>
        {({ users, total }) => (
          <PagedTable
            columns={columns}
            rows={users}
            keyOf={({ id }) => id}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={
              <Empty title={username ? `There is no user ${username}` : 'There are no users'} />
            }
          />
        )}
      </Answered>
    </div>
  );
}

const columns: readonly Column<User>[] = [
  { title: 'User', cell: ({ id, username }) => <Link href={`/users/${id}`}>{username}</Link> },
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Email', cell: ({ email }) => email },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { title: 'State', cell: (user) => <UserBadge user={user} /> },
  {
    title: 'Last login',
    cell: ({ lastLoginAt }) => (lastLoginAt ? formatAge(lastLoginAt) : 'never'),
  },
];
