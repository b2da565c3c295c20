import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { findUser } from '../../api/find-user.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf, wordsOf } from '../../ui/form-values.ts';
import { ShownOnce } from '../../ui/shown-once.tsx';

/** Makes an API key, and shows it this once. */
export function NewKeyForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const creation = useChange('auth', 'POST /api/v1/auth/api-keys');
  if (creation.data) {
    return (
      <ShownOnce label="API key" secret={creation.data.api_key} onDone={onClose}>
        <p className="faint">
          Programs send it as <code>Authorization: Bearer …</code>
        </p>
      </ShownOnce>
    );
  }
  const create = (form: FormData) => creation.mutate(async () => ({ body: await bodyOf(form) }));
  return (
    <ChangeForm change={creation} action="Create" onSubmit={create} onCancel={onClose}>
      <KeyFields />
    </ChangeForm>
  );
}

function KeyFields() {
  return (
    <>
      <Field label="Name" hint="What it is for.">
        <input name="name" required maxLength={200} autoComplete="off" />
      </Field>
      <Field label="Service" hint="Lower-case letters, digits and hyphens: what program uses it.">
        <input
          name="service"
          className="mono"
          required
          pattern="[a-z][a-z0-9\-]{0,62}"
          autoComplete="off"
        />
      </Field>
      <Field
        label="Permissions"
        hint="As tracer:write or agent:read, set off by blanks; never more than your own."
      >
        <input name="permissions" className="mono" autoComplete="off" />
      </Field>
      <Field label="Ends after" hint="Days; never when blank.">
        <input name="days" type="number" min={1} max={3650} />
      </Field>
      <Field label="User" hint="Name or id of whom it acts for; a key of the service when blank.">
        <input name="user" autoComplete="off" />
      </Field>
    </>
  );
}

async function bodyOf(form: FormData) {
  const days = textOf(form, 'days');
  const user = textOf(form, 'user').trim();
  return {
    name: textOf(form, 'name'),
    service: textOf(form, 'service'),
    permissions: wordsOf(form, 'permissions'),
    ...(days === '' ? {} : { expiresInDays: Number(days) }),
    ...(user === '' ? {} : { userId: (await findUser(user)).id }),
  };
}
