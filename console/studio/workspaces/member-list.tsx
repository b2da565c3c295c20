import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { findUser } from '../../api/find-user.ts';
import { useIsAllowed } from '../../session/person.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import type { Member, Role, Workspace } from '../answers.ts';

const roles: readonly Role[] = ['Admin', 'Developer', 'Reviewer', 'Viewer', 'Guest'];

export interface MemberListProps {
  readonly workspace: Workspace;
  readonly isEditable: boolean;
}

/** Who is a member, and as what. */
export function MemberList({ workspace, isEditable }: MemberListProps): ReactNode {
  const { id, members, ownerId } = workspace;
  const change = useChange('studio', 'PUT /api/v1/workspaces/:id');
  const replace = (next: readonly Member[]) =>
    change.mutate({ params: { id }, body: { members: [...next] } });
  const columns = columnsFor({
    isFixed: ({ userId }) => !isEditable || userId === ownerId || change.isPending,
    onRole: (member, role) =>
      replace(members.map((one) => (one === member ? withRole(one, role) : one))),
    onRemove: (member) => replace(members.filter((one) => one !== member)),
  });
  return (
    <section className="card stack" aria-label="Members">
      <h2>Members</h2>
      <Table columns={columns} rows={members} keyOf={({ userId }) => userId} />
      {change.error ? <Problem error={change.error} /> : null}
      {isEditable ? <NewMember workspace={workspace} /> : null}
    </section>
  );
}

interface Choices {
  readonly isFixed: (member: Member) => boolean;
  readonly onRole: (member: Member, role: string) => void;
  readonly onRemove: (member: Member) => void;
}

function columnsFor({ isFixed, onRole, onRemove }: Choices): readonly Column<Member>[] {
  return [
    { title: 'User', cell: ({ userId }) => <UserName id={userId} /> },
    {
      title: 'Role',
      cell: (member) => (
        <select
          aria-label={`Role of ${member.userId}`}
          value={member.role}
          disabled={isFixed(member)}
          onChange={({ target }) => onRole(member, target.value)}
        >
          {roles.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      ),
    },
    {
      title: '',
      cell: (member) => (
        <button type="button" disabled={isFixed(member)} onClick={() => onRemove(member)}>
          Remove
        </button>
      ),
    },
  ];
}

function withRole({ userId }: Member, wanted: string): Member {
  return { userId, role: roles.find((role) => role === wanted) ?? 'Guest' };
}

/** By name where one may look names up, else by id. */
function UserName({ id }: { readonly id: string }) {
  const mayLook = useIsAllowed('auth:admin');
  const user = useAnswer('auth', 'GET /api/v1/auth/users/:id', {
    params: { id },
    isEnabled: mayLook,
  });
  return user.data ? <span title={id}>{user.data.username}</span> : <code>{id}</code>;
}

function NewMember({ workspace }: { readonly workspace: Workspace }) {
  const mayLook = useIsAllowed('auth:admin');
  const [entry, setEntry] = useState(0);
  const change = useChange('studio', 'PUT /api/v1/workspaces/:id');
  const addition = useMutation({
    mutationFn: async (form: FormData) => {
      const wanted = textOf(form, 'user').trim();
      const userId = mayLook ? (await findUser(wanted)).id : wanted;
      const others = workspace.members.filter((member) => member.userId !== userId);
      const added = withRole({ userId, role: 'Guest' }, textOf(form, 'role'));
      await change.mutateAsync({
        params: { id: workspace.id },
        body: { members: [...others, added] },
      });
    },
    onSuccess: () => setEntry(entry + 1),
  });
  return (
    <ChangeForm key={entry} change={addition} action="Add member" onSubmit={addition.mutate}>
      <div className="row">
        <Field label={mayLook ? 'User name or id' : 'User id'}>
          <input name="user" required autoComplete="off" />
        </Field>
        <Field label="Role">
          <select name="role" defaultValue="Developer">
            {roles.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </Field>
      </div>
    </ChangeForm>
  );
}
