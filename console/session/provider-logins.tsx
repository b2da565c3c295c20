import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from '../ui/problem.tsx';
import { beginProviderLogin, failedLoginReason } from './session.ts';

/** Buttons that lead to identity providers; the browser comes back to where it is now. */
export function ProviderLogins({
  providers,
}: {
  readonly providers: readonly string[];
}): ReactNode {
  const begin = useMutation({
    mutationFn: beginProviderLogin,
    onSuccess: (location) => window.location.assign(location),
  });
  if (providers.length === 0) return null;
  return (
    <div className="stack">
      {providers.map((provider) => (
        <button
          key={provider}
          type="button"
          disabled={begin.isPending}
          onClick={() => begin.mutate(provider)}
        >
          Log in with {provider}
        </button>
      ))}
      {begin.error ? <Problem error={begin.error} /> : null}
    </div>
  );
}

const sentences: Readonly<Record<string, string>> = {
  access_denied: 'The login was refused at the identity provider.',
  login_not_begun: 'The login took too long, or began in another browser. Try again.',
  user_disabled: 'This user may not log in.',
};

/** Says why the browser came back from a provider without a session, where it did. */
export function FailedLogin(): ReactNode {
  const reason = failedLoginReason(window.location.search);
  if (reason === undefined) return null;
  const message =
    sentences[reason] ?? `The login through the identity provider failed (${reason}).`;
  return <Problem error={{ message }} />;
}
