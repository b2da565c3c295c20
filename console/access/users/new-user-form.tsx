import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { choicesOf, textOf } from '../../ui/form-values.ts';
import { NewPassword } from './new-password.tsx';
import { RoleField } from './role-field.tsx';

/** Makes a user, and opens it. */
export function NewUserForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [, navigate] = useLocation();
  const creation = useChange('auth', 'POST /api/v1/auth/users');
  const create = (form: FormData) => {
    const body = {
      username: textOf(form, 'username').trim(),
      email: textOf(form, 'email').trim(),
      name: textOf(form, 'name').trim(),
      password: textOf(form, 'password'),
      roles: choicesOf(form, 'roles'),
    };
    creation.mutate({ body }, { onSuccess: ({ id }) => navigate(`/users/${id}`) });
  };
  return (
    <ChangeForm change={creation} action="Create" onSubmit={create} onCancel={onClose}>
      <Field label="User name" hint="Letters, digits and . _ @ + -">
        <input name="username" required maxLength={128} autoComplete="off" />
      </Field>
      <Field label="Email">
        <input name="email" type="email" required autoComplete="off" />
      </Field>
      <Field label="Full name">
        <input name="name" maxLength={200} autoComplete="off" />
      </Field>
      <Field label="First password" hint="Eight characters or more; the user can change it.">
        <NewPassword />
      </Field>
      <RoleField />
    </ChangeForm>
  );
}
