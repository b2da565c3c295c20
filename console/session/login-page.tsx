import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Refusal } from '../api/refusal.ts';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import { focusFirst } from '../ui/focus-first.ts';
import { filled, textOf } from '../ui/form-values.ts';
import { FailedLogin, ProviderLogins } from './provider-logins.tsx';
import { logIn, readLoginMethods, type LoginMethods, type Person } from './session.ts';

export interface LoginProps {
  readonly onLogin: (person: Person) => void;
}

/** Where nobody is logged in. */
export function LoginPage({ onLogin }: LoginProps): ReactNode {
  const { password } = useLoginMethods();
  return (
    <div className="login">
      <h1>Ennead</h1>
      <FailedLogin />
      <LoginForm onLogin={onLogin} />
      {password ? (
        <p className="faint">
          The first administrator’s name and password stand in <code>.ennead/admin.json</code> on
          the machine that runs Ennead.
        </p>
      ) : null}
    </div>
  );
}

/** All ways to log in that auth takes. */
export function LoginForm({ onLogin }: LoginProps): ReactNode {
  const { password, providers } = useLoginMethods();
  return (
    <>
      {password ? <PasswordForm onLogin={onLogin} /> : null}
      <ProviderLogins providers={providers} />
    </>
  );
}

/** A password, until it is known that auth takes none. */
function useLoginMethods(): LoginMethods {
  const { data } = useQuery({ queryKey: ['login-methods'], queryFn: readLoginMethods });
  return data ?? { password: true, providers: [] };
}

/** A user's name, password and, where auth asks for it, second factor. */
function PasswordForm({ onLogin }: LoginProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const login = useMutation({
    mutationFn: logIn,
    onSuccess: onLogin,
    onError: (error) => setNeedsCode((needed) => needed || asksForCode(error)),
  });
  const submit = (form: FormData) =>
    login.mutate({
      username: textOf(form, 'username'),
      password: textOf(form, 'password'),
      ...filled(form, 'otp'),
    });
  const error = asksForCode(login.error) ? null : login.error;
  return (
    <ChangeForm change={{ ...login, error }} action="Log in" onSubmit={submit}>
      <Field label="User">
        <input ref={focusFirst} name="username" autoComplete="username" required />
      </Field>
      <Field label="Password">
        <input name="password" type="password" autoComplete="current-password" required />
      </Field>
      {needsCode ? (
        <Field label="Code of your second factor">
          <input
            ref={focusFirst}
            name="otp"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
          />
        </Field>
      ) : null}
    </ChangeForm>
  );
}

/** That is no failure: the form has one field more then. */
function asksForCode(error: Error | null): boolean {
  return error instanceof Refusal && error.code === 'mfa_required';
}
