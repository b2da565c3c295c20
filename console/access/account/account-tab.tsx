import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { usePerson } from '../../session/person.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { SecondFactorCard } from './second-factor-card.tsx';

/** Who one is, and how one logs in. */
export function AccountTab(): ReactNode {
  return (
    <div className="columns">
      <PersonCard />
      <SecondFactorCard />
      <PasswordCard />
    </div>
  );
}

function PersonCard() {
  const person = usePerson();
  if (!person) return null;
  const { sub, name, preferred_username, email, roles, permissions } = person;
  return (
    <section className="card" aria-label="You">
      <h2>You</h2>
      <Facts
        facts={[
          ['User', preferred_username],
          ['Name', name],
          ['Email', email],
          ['Id', <code key="id">{sub}</code>],
          ['Roles', roles.join(', ') || 'none'],
          ['May', permissions.join(', ') || 'nothing but what everybody may'],
        ]}
      />
    </section>
  );
}

function PasswordCard() {
  const change = useChange('auth', 'POST /api/v1/auth/password');
  const save = (form: FormData) =>
    change.mutate({
      body: {
        currentPassword: textOf(form, 'current'),
        newPassword: textOf(form, 'new'),
      },
    });
  return (
    <section className="card" aria-label="Your password">
      <h2>Your password</h2>
      <ChangeForm
        key={change.isSuccess ? 'changed' : 'to change'}
        change={change}
        action="Change the password"
        doneText="Your password is changed."
        onSubmit={save}
      >
        <Field label="Current password">
          <input name="current" type="password" required autoComplete="current-password" />
        </Field>
        <Field label="New password" hint="Eight characters or more. Your other sessions end.">
          <input name="new" type="password" required minLength={8} autoComplete="new-password" />
        </Field>
      </ChangeForm>
    </section>
  );
}
