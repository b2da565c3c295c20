import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer, useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { Answered } from '../ui/answered.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Page } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import type { Connection } from './answers.ts';
import { Approval } from './approval.tsx';
import { Authorization } from './authorization.tsx';
import { ConnectionFacts } from './connection-facts.tsx';
import { ConnectionHealth } from './connection-health.tsx';
import { ConnectionHistory } from './connection-history.tsx';
import { Drift } from './drift.tsx';
import { ToolBench } from './tool-bench.tsx';
import { useRegistryNews } from './use-registry-news.ts';

const refreshMs = 5_000;

/** One connection: what it offers, how it does, and what happened to it. */
export function ConnectionDetail({ connectionId }: { readonly connectionId: string }): ReactNode {
  useRegistryNews();
  const connection = useAnswer('registry', 'GET /connections/:connectionId', {
    params: { connectionId },
    everyMs: refreshMs,
  });
  return (
    <Page
      title={
        <>
          <Link href="/">Connections</Link> / {connection.data?.name ?? connectionId}
        </>
      }
      actions={connection.data ? <Ending connection={connection.data} /> : null}
    >
      <Answered query={connection}>{(found) => <Known connection={found} />}</Answered>
    </Page>
  );
}

function Known({ connection }: { readonly connection: Connection }): ReactNode {
  return (
    <>
      <Approval connection={connection} />
      <Authorization connection={connection} />
      <Drift connectionId={connection.id} />
      <div className="columns">
        <ConnectionHealth connection={connection} />
        <ConnectionFacts connection={connection} />
      </div>
      <ToolBench connection={connection} />
      <ConnectionHistory connectionId={connection.id} />
    </>
  );
}

/** Ends a connection, or takes up again one that was ended. */
function Ending({
  connection: { id, name, status },
}: {
  readonly connection: Connection;
}): ReactNode {
  const [, navigate] = useLocation();
  const ending = useChange('registry', 'DELETE /connections/:connectionId', {
    onDone: () => navigate('/'),
  });
  const update = useChange('registry', 'PATCH /connections/:connectionId');
  const params = { connectionId: id };
  if (status === 'disconnected') {
    return (
      <>
        {update.error ? <Problem error={update.error} /> : null}
        <Permitted needs="registry:write">
          <button
            type="button"
            disabled={update.isPending}
            onClick={() => update.mutate({ params, body: { status: 'active' } })}
          >
            Connect again
          </button>
        </Permitted>
      </>
    );
  }
  return (
    <Permitted needs="registry:write">
      <ConfirmButton label="Disconnect" onConfirm={() => ending.mutateAsync({ params })}>
        {name} gets no more calls, and its process ends if it has one. It stays readable for thirty
        days, and can be connected again.
      </ConfirmButton>
    </Permitted>
  );
}
