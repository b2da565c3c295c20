import { useState, type FormEvent, type ReactNode } from 'react';
import { Refusal } from '../api/refusal.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { logIn, type Person } from './session.ts';

/** A user's name, password and, where auth asks for it, second factor. */
export function LoginPage({ onLogin }: { readonly onLogin: (person: Person) => void }): ReactNode {
  const [needsCode, setNeedsCode] = useState(false);
  const [problem, setProblem] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const otp = textOf(form, 'otp').trim();
    setIsBusy(true);
    setProblem(undefined);
    try {
      onLogin(
        await logIn({
          username: textOf(form, 'username'),
          password: textOf(form, 'password'),
          ...(otp ? { otp } : {}),
        }),
      );
    } catch (error) {
      const isAsking = error instanceof Refusal && error.code === 'mfa_required';
      setNeedsCode((needed) => needed || isAsking);
      if (!isAsking) setProblem(error as Error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <form className="login" onSubmit={(event) => void submit(event)}>
      <h1>Ennead</h1>
      <Field label="User">
        <input name="username" autoComplete="username" required />
      </Field>
      <Field label="Password">
        <input name="password" type="password" autoComplete="current-password" required />
      </Field>
      {needsCode ? (
        <Field label="Code of your second factor">
          <input name="otp" inputMode="numeric" autoComplete="one-time-code" required />
        </Field>
      ) : null}
      {problem ? <Problem error={problem} /> : null}
      <button type="submit" className="primary" disabled={isBusy}>
        Log in
      </button>
      <p className="faint">
        The first administrator's name and password stand in <code>.ennead/admin.json</code> on the
        machine that runs Ennead.
      </p>
    </form>
  );
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
