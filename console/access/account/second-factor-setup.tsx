import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

/** From the password over the app's secret and its first code to the recovery codes. */
export function SecondFactorSetup({ onClose }: { readonly onClose: () => void }): ReactNode {
  const beginning = useChange('auth', 'POST /api/v1/auth/mfa/totp');
  const proof = useChange('auth', 'POST /api/v1/auth/mfa/totp/verify');
  const begin = (form: FormData) =>
    beginning.mutate({ body: { password: textOf(form, 'password') } });
  const prove = (form: FormData) => proof.mutate({ body: { code: textOf(form, 'code').trim() } });
  if (proof.data) return <RecoveryCodes codes={proof.data.recoveryCodes} onClose={onClose} />;
  if (beginning.data) {
    return (
      <ChangeForm change={proof} action="Put it in force" onSubmit={prove} onCancel={onClose}>
        <Field label="Secret" hint="Add it to your authenticator app by hand.">
          <input className="mono" readOnly value={beginning.data.secret} />
        </Field>
        <Field label="Address" hint="For apps that take it; it holds the same secret.">
          <textarea className="mono" readOnly value={beginning.data.otpauthUrl} />
        </Field>
        <Field label="Code that the app shows">
          <input name="code" required inputMode="numeric" autoComplete="one-time-code" />
        </Field>
      </ChangeForm>
    );
  }
  return (
    <ChangeForm change={beginning} action="Go on" onSubmit={begin} onCancel={onClose}>
      <Field label="Your password">
        <input name="password" type="password" required autoComplete="current-password" />
      </Field>
    </ChangeForm>
  );
}
