import type { ReactNode } from 'react';
import { useAnswer, useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { Badge } from '../ui/badge.tsx';
import { Problem } from '../ui/problem.tsx';

const tones = { changed: 'warning', added: 'busy', removed: 'neutral' } as const;

/** Tools that are not what was agreed to; nothing where all are. */
export function Drift({ connectionId }: { readonly connectionId: string }): ReactNode {
  const params = { connectionId };
  const drift = useAnswer('registry', 'GET /connections/:connectionId/drift', { params });
  const accept = useChange('registry', 'POST /connections/:connectionId/accept-tools');
  if (drift.error) return <Problem error={drift.error} onRetry={() => void drift.refetch()} />;
  const tools = drift.data?.tools ?? [];
  if (tools.length === 0) return null;
  return (
    <section className="card stack notice" aria-label="Tools changed">
      <h2>Tools are not what was agreed to</h2>
      <p className="flat">A tool that a server changes later may mean something else with it.</p>
      <ul className="plain">
        {tools.map(({ name, change, quarantined }) => (
          <li key={name} className="row">
            <code>{name}</code> <Badge state={change} tone={tones[change]} />
            {quarantined ? <span className="bad-text">not called until it is accepted</span> : null}
            <Permitted needs="registry:write">
              <button
                type="button"
                disabled={accept.isPending}
                onClick={() => accept.mutate({ params, body: { tools: [name] } })}
              >
                Accept {name}
              </button>
            </Permitted>
          </li>
        ))}
      </ul>
      <div>
        <Permitted needs="registry:write">
          <button
            type="button"
            disabled={accept.isPending}
            onClick={() => accept.mutate({ params, body: {} })}
          >
            Accept all
          </button>
        </Permitted>
      </div>
      {accept.error ? <Problem error={accept.error} /> : null}
    </section>
  );
}
