import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { useKept } from '../../ui/use-kept.ts';
import type { StudioAgent, Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';
import { AgentBadge } from './agent-badge.tsx';
import { SpawnForm } from './spawn-form.tsx';

const limit = 50;
const refreshMs = 10_000;

/** The agents of a workspace. */
export function AgentsTab({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { mayRunAgents } = useRights(workspace);
  const [offset, setOffset] = useKept('offset', 0);
  const listed = useAnswer('studio', 'GET /api/v1/agents', {
    query: { workspaceId: workspace.id, limit, offset },
    everyMs: refreshMs,
  });
  return (
    <div className="stack">
      {mayRunAgents ? (
        <div className="row">
          <ModalButton label="Spawn an agent" look="primary">
            {(close) => <SpawnForm workspaceId={workspace.id} onClose={close} />}
          </ModalButton>
        </div>
      ) : null}
      <Answered query={listed}>
        {({ agents, total }) => (
          <PagedTable
            columns={columns}
            rows={agents}
            keyOf={({ id }) => id}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={
              <Empty title="No agent works here yet">
                <p>A coder changes files, a reviewer reads them, a tester runs the test command.</p>
              </Empty>
            }
          />
        )}
      </Answered>
    </div>
  );
}

const columns: readonly Column<StudioAgent>[] = [
  { title: 'Name', cell: ({ id, name }) => <Link href={`/agents/${id}`}>{name}</Link> },
  { title: 'State', cell: (agent) => <AgentBadge agent={agent} /> },
  { title: 'Kind', cell: ({ template }) => template },
  { title: 'Runs on', cell: ({ runtime }) => runtime },
  { title: 'Can', cell: ({ capabilities }) => capabilities.join(', ') },
  { title: 'Restarts', cell: ({ restarts }) => restarts, isFigure: true },
  { title: 'Spawned', cell: ({ createdAt }) => formatAge(createdAt) },
];
