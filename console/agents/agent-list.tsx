import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Answer } from '../api/contracts.ts';
import { useAnswer } from '../api/answers.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';
import { formatAge } from '../ui/text.ts';
import { useSettled } from '../ui/use-settled.ts';
import { useKept } from '../ui/use-kept.ts';
import { AgentRegistration } from './agent-registration.tsx';
import { AgentStatus, Load } from './agent-state.tsx';
import { AgentsNav } from './agents-nav.tsx';
import { Attested, useAttestedAgents } from './attested.tsx';

type Agent = Answer<'mesh', 'GET /api/v1/agents'>['agents'][number];
type Status = Agent['status'];

const pageSize = 20;
const refreshMs = 3_000;
const statuses: readonly Status[] = ['active', 'busy', 'draining', 'suspect', 'offline'];

/** All agents by id, live. */
export function AgentList(): ReactNode {
  const [status, setStatus] = useKept<Status | ''>('status', '');
  const [capability, setCapability] = useKept('capability', '');
  const [offset, setOffset] = useKept('offset', 0);
  const [, navigate] = useLocation();
  const attested = useAttestedAgents();
  const wanted = useSettled(capability);
  const query = {
    limit: pageSize,
    offset,
    ...(status === '' ? {} : { status }),
    ...(wanted === '' ? {} : { capability: wanted }),
  };
  const agents = useAnswer('mesh', 'GET /api/v1/agents', { query, everyMs: refreshMs });
  const narrow = (change: () => void) => {
    change();
    setOffset(0);
  };
  return (
    <Page
      title="Agents"
      actions={
        <>
          <input
            aria-label="Capability"
            placeholder="Capability"
            value={capability}
            onChange={({ target }) => narrow(() => setCapability(target.value.trim()))}
          />
          <StatusFilter value={status} onChange={(next) => narrow(() => setStatus(next))} />
          <AgentRegistration />
        </>
      }
    >
      <AgentsNav />
      <Answered query={agents}>
        {({ agents: rows, total }) => (
          <PagedTable
            columns={columnsOf(attested)}
            rows={rows}
            keyOf={({ agentId }) => agentId}
            onOpen={({ agentId }) => navigate(`/${agentId}`)}
            offset={offset}
            limit={pageSize}
            total={total}
            onMove={setOffset}
            empty={<NoAgents isFiltered={status !== '' || capability !== ''} />}
          />
        )}
      </Answered>
    </Page>
  );
}

function StatusFilter({
  value,
  onChange,
}: {
  readonly value: Status | '';
  readonly onChange: (status: Status | '') => void;
}): ReactNode {
  return (
    <select
      aria-label="Status"
      value={value}
      onChange={({ target }) => onChange(statuses.find((name) => name === target.value) ?? '')}
    >
      <option value="">any status</option>
      {statuses.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function NoAgents({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="No agent matches">Clear a filter to see the others.</Empty>;
  return (
    <Empty title="No agents yet">
      Register one here, or have one join by itself: <code>joinMesh</code> of{' '}
      <code>src/mesh/agent.ts</code>, or <code>POST /api/v1/agents/register</code>.
    </Empty>
  );
}

function columnsOf(attested: ReadonlySet<string> | undefined): readonly Column<Agent>[] {
  return [
    {
      title: 'Agent',
      cell: ({ agentId }) => <Link href={`/${agentId}`}>{agentId}</Link>,
    },
    { title: 'Status', cell: ({ status }) => <AgentStatus status={status} /> },
    { title: 'Capabilities', cell: ({ capabilities }) => <Capabilities names={capabilities} /> },
    { title: 'Load', cell: ({ load }) => <Load load={load} /> },
    { title: 'Last heartbeat', cell: ({ lastSeen }) => formatAge(lastSeen) },
    {
      title: 'Attested',
      cell: ({ agentId, publicKey }) => (
        <Attested hasKey={publicKey !== undefined} isAttested={attested?.has(agentId)} />
      ),
    },
  ];
}

const shownMax = 6;

function Capabilities({ names }: { readonly names: readonly string[] }): ReactNode {
  const more = names.length - shownMax;
  return (
    <span className="chips">
      {names.slice(0, shownMax).map((name) => (
        <span key={name} className="chip">
          {name}
        </span>
      ))}
      {more > 0 ? <span className="faint">and {more} more</span> : null}
    </span>
  );
}
