import type { ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { commandLine } from './command-line.ts';
import type { Connection } from './answers.ts';

/** Asks somebody to agree to a command that waits; nothing where none does. */
export function Approval({ connection }: { readonly connection: Connection }): ReactNode {
  const approve = useChange('registry', 'POST /connections/:connectionId/approve');
  const { id, endpoint, approval, status } = connection;
  if (!endpoint?.command || approval?.approved !== false || status === 'disconnected') return null;
  const { command, args = [], env = {} } = endpoint;
  return (
    <section className="card stack notice" aria-label="A command waits for an approval">
      <h2>A command waits for an approval</h2>
      <Permitted needs="registry:execute">
        <ChangeForm
          change={approve}
          action="Approve this command"
          onSubmit={() =>
            approve.mutate({ params: { connectionId: id }, body: { command, args, env } })
          }
        >
          <p className="flat">
            It runs on the host of the registry once somebody who may has agreed to exactly this.
          </p>
          <JsonView value={commandLine(endpoint)} />
          {Object.keys(env).length > 0 ? <JsonView value={env} /> : null}
        </ChangeForm>
      </Permitted>
    </section>
  );
}
