import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { formatAge } from '../ui/text.ts';
import { useKept } from '../ui/use-kept.ts';
import { AgentsNav } from './agents-nav.tsx';
import { SwarmCreation } from './swarm-creation.tsx';
import { SwarmState } from './swarm-state.tsx';

type Swarm = Answer<'mesh', 'GET /api/v1/swarms'>['swarms'][number];

const pageSize = 20;
const refreshMs = 3_000;
const statuses = ['active', 'consensus-reached', 'rejected', 'timed-out', 'cancelled'] as const;
type Status = (typeof statuses)[number];

/** What agents decide or have decided together, the newest first. */
export function SwarmList(): ReactNode {
  const [status, setStatus] = useKept<Status | ''>('status', '');
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const swarms = useAnswer('mesh', 'GET /api/v1/swarms', {
    query: { limit: pageSize, offset, ...(status === '' ? {} : { status }) },
    everyMs: refreshMs,
  });
  const filter = (wanted: string) => {
    setStatus(statuses.find((name) => name === wanted) ?? '');
    setOffset(0);
  };
  return (
    <Page
      title="Agents"
      actions={
        <>
          <select
            aria-label="Status"
            value={status}
            onChange={({ target }) => filter(target.value)}
          >
            <option value="">any status</option>
            {statuses.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <SwarmCreation onDone={(swarmId) => navigate(`/swarms/${swarmId}`)} />
        </>
      }
    >
      <AgentsNav />
      <Answered query={swarms}>
        {({ swarms: rows, total }) => (
          <PagedTable
            columns={columns}
            rows={rows}
            keyOf={({ swarmId }) => swarmId}
            onOpen={({ swarmId }) => navigate(`/swarms/${swarmId}`)}
            offset={offset}
            limit={pageSize}
            total={total}
            onMove={setOffset}
            empty={<NoSwarms isFiltered={status !== ''} />}
          />
        )}
      </Answered>
    </Page>
  );
}

function NoSwarms({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="No swarm has this status">Choose another one.</Empty>;
  return (
    <Empty title="No swarms yet">
      Create one: its members vote on a question, and enough equal votes decide it.
    </Empty>
  );
}

const columns: readonly Column<Swarm>[] = [
  {
    title: 'Swarm',
    cell: ({ swarmId, name }) => <Link href={`/swarms/${swarmId}`}>{name}</Link>,
  },
  { title: 'Status', cell: ({ status }) => <SwarmState status={status} /> },
  { title: 'Members', cell: ({ agents }) => agents.length, isFigure: true },
  { title: 'Created', cell: ({ createdAt }) => formatAge(createdAt) },
];
