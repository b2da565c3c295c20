import type { ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { Problem } from '../ui/problem.tsx';
import type { Connection } from './answers.ts';

const needing = new Set(['authorization_required', 'insufficient_scope']);

/** Lets somebody log in at a server that asks for it; nothing where none does. */
export function Authorization({ connection }: { readonly connection: Connection }): ReactNode {
  const authorize = useChange('registry', 'POST /connections/:connectionId/authorize');
  const { id, health } = connection;
  if (!needing.has(health.reason ?? '')) return null;
  const { authorizationUrl, authorized } = authorize.data ?? {};
  return (
    <section className="card stack notice" aria-label="The server requires authorization">
      <h2>The server requires authorization</h2>
      <p className="flat">Somebody has to log in there, so that the registry may call it.</p>
      {authorizationUrl ? (
        <a href={authorizationUrl} target="_blank" rel="noreferrer">
          Log in at {new URL(authorizationUrl).host}
        </a>
      ) : (
        <div>
          <Permitted needs="registry:write">
            <button
              type="button"
              className="primary"
              disabled={authorize.isPending}
              onClick={() => authorize.mutate({ params: { connectionId: id }, body: {} })}
            >
              Begin
            </button>
          </Permitted>
        </div>
      )}
      {authorized ? <p className="flat">It is done: the next check tells.</p> : null}
      {authorize.error ? <Problem error={authorize.error} /> : null}
    </section>
  );
}
