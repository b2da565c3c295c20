import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { usePerson } from '../../session/person.ts';
import { Answered } from '../../ui/answered.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { choicesOf, textOf } from '../../ui/form-values.ts';
import { formatAge } from '../../ui/text.ts';
import type { User } from '../answers.ts';
import { SessionList } from '../sessions/session-list.tsx';
import { NewPassword } from './new-password.tsx';
import { RoleField } from './role-field.tsx';
import { UserBadge } from './user-badge.tsx';
import { UserEnds } from './user-ends.tsx';

/** A user: who it is, what it may do, where it is logged in. */
export function UserPage({ id }: { readonly id: string }): ReactNode {
  const user = useAnswer('auth', 'GET /api/v1/auth/users/:id', { params: { id } });
  return (
    <Answered query={user}>
      {(found) => (
        <div className="stack">
          <div className="row wrapping">
            <h2>
              <Link href="/users">Users</Link> / {found.username}
            </h2>
            <UserBadge user={found} />
            <span className="faint">
              <code>{found.id}</code>, made {formatAge(found.createdAt)}
            </span>
          </div>
          <div className="columns">
            <ProfileCard user={found} />
            <RolesCard user={found} />
            <PasswordCard user={found} />
            <UserEnds user={found} />
          </div>
          <section className="stack" aria-label="Sessions of the user">
            <h2>Sessions</h2>
            <SessionList userId={id} />
          </section>
        </div>
      )}
    </Answered>
  );
}

function ProfileCard({ user }: { readonly user: User }) {
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  const save = (form: FormData) =>
    change.mutate({
      params: { id: user.id },
      body: { name: textOf(form, 'name'), email: textOf(form, 'email').trim() },
    });
  return (
    <section className="card" aria-label="Profile">
      <h2>Profile</h2>
      <ChangeForm change={change} action="Save the profile" onSubmit={save}>
        <Field label="Full name">
          <input name="name" maxLength={200} defaultValue={user.name} />
        </Field>
        <Field label="Email">
          <input name="email" type="email" required defaultValue={user.email} />
        </Field>
      </ChangeForm>
    </section>
  );
}

function RolesCard({ user }: { readonly user: User }) {
  const isOwn = usePerson()?.sub === user.id;
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  const save = (form: FormData) =>
    change.mutate({ params: { id: user.id }, body: { roles: choicesOf(form, 'roles') } });
  return (
    <section className="card" aria-label="Roles">
      <ChangeForm change={change} action="Save the roles" onSubmit={save}>
        <RoleField key={user.roles.join(' ')} held={user.roles} />
        <p className="faint">
          {isOwn ? 'These are your own: without admin you are shut out of this page. ' : ''}
          Access tokens with a role that goes end at once.
        </p>
      </ChangeForm>
    </section>
  );
}

function PasswordCard({ user }: { readonly user: User }) {
  const change = useChange('auth', 'PATCH /api/v1/auth/users/:id');
  const save = (form: FormData) =>
    change.mutate({ params: { id: user.id }, body: { password: textOf(form, 'password') } });
  return (
    <section className="card" aria-label="New password">
      <h2>New password</h2>
      <ChangeForm
        change={change}
        action="Set the password"
        doneText="The password is set."
        onSubmit={save}
      >
        <Field label="Password" hint="All sessions of the user end.">
          <NewPassword />
        </Field>
      </ChangeForm>
    </section>
  );
}
