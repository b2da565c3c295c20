import type { ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge, formatCount } from '../../ui/text.ts';
import type { Workspace } from '../answers.ts';
import { useRights } from '../workspaces/use-rights.ts';

type SyncStatus = Answer<'studio', 'GET /api/v1/sync/status'>['workspaces'][number];
type Device = SyncStatus['devices'][number];

const refreshMs = 5_000;

/** How far the devices are that keep copies of the workspace. */
export function SyncTab({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { mayEditFiles } = useRights(workspace);
  const status = useAnswer('studio', 'GET /api/v1/sync/status', {
    query: { workspaceId: workspace.id },
    everyMs: refreshMs,
  });
  return (
    <div className="stack">
      <Answered query={status}>
        {({ workspaces: [found] }) =>
          found ? <Status status={found} name={workspace.name} /> : null
        }
      </Answered>
      {mayEditFiles ? <Rescan workspaceId={workspace.id} /> : null}
    </div>
  );
}

const columns: readonly Column<Device>[] = [
  { title: 'Device', cell: ({ deviceId }) => <code>{deviceId}</code> },
  { title: 'User', cell: ({ userId }) => <code>{userId}</code> },
  {
    title: 'State',
    cell: ({ connected }) => (
      <Badge state={connected ? 'connected' : 'away'} tone={connected ? 'good' : 'neutral'} />
    ),
  },
  { title: 'Changes to take', cell: ({ pending }) => formatCount(pending), isFigure: true },
  { title: 'Last seen', cell: ({ lastSeenAt }) => formatAge(lastSeenAt) },
];

function Status({ status, name }: { readonly status: SyncStatus; readonly name: string }) {
  const { devices, lastSeq, usedBytes } = status;
  return (
    <>
      <div className="cards">
        <div className="card figure-card">
          <strong>{formatCount(lastSeq)}</strong>
          changes so far
        </div>
        <div className="card figure-card">
          <strong>{formatCount(usedBytes)}</strong>
          bytes in files
        </div>
        <div className="card figure-card">
          <strong>{formatCount(devices.length)}</strong>
          devices
        </div>
      </div>
      {devices.length === 0 ? (
        <Empty title="No device keeps a copy of this workspace">
          <p>
            <code>ennead sync {JSON.stringify(name)} ./folder</code> keeps a folder in step with it.
          </p>
        </Empty>
      ) : (
        <Table columns={columns} rows={devices} keyOf={({ deviceId }) => deviceId} />
      )}
    </>
  );
}

function Rescan({ workspaceId }: { readonly workspaceId: string }) {
  const rescan = useChange('studio', 'POST /api/v1/sync/force');
  const [found] = rescan.data?.workspaces ?? [];
  return (
    <div className="stack">
      <div className="row">
        <button
          type="button"
          disabled={rescan.isPending}
          onClick={() => rescan.mutate({ body: { workspaceId } })}
        >
          Read the folder again
        </button>
        <output className="faint">
          {found
            ? `${formatCount(found.files)} files were looked at, ${formatCount(found.changed)} had changed.`
            : 'Finds what was changed in the folder by hand.'}
        </output>
      </div>
      {rescan.error ? <Problem error={rescan.error} /> : null}
    </div>
  );
}
