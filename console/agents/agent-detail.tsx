import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer, useChange } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Permitted } from '../session/permitted.tsx';
import { Answered } from '../ui/answered.tsx';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Facts } from '../ui/facts.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Page } from '../ui/page.tsx';
import { formatAge } from '../ui/text.ts';
import { ActivityTable } from './activity-table.tsx';
import { AgentStatus, Load } from './agent-state.tsx';
import { useAttestedCapabilities } from './attested.tsx';
import { useActivity } from './use-activity.ts';

type Agent = Answer<'mesh', 'GET /api/v1/agents/:agentId'>;

const refreshMs = 3_000;

/** One agent: what it can do, where it is and what it did. */
export function AgentDetail({ agentId }: { readonly agentId: string }): ReactNode {
  const agent = useAnswer('mesh', 'GET /api/v1/agents/:agentId', {
    params: { agentId },
    everyMs: refreshMs,
  });
  return (
    <Page
      title={
        <>
          <Link href="/">Agents</Link> / {agentId}
        </>
      }
      actions={agent.data ? <Actions agent={agent.data} /> : null}
    >
      <Answered query={agent}>{(found) => <Known agent={found} />}</Answered>
    </Page>
  );
}

function Actions({ agent: { agentId, ownerId } }: { readonly agent: Agent }): ReactNode {
  const [, navigate] = useLocation();
  const removal = useChange('mesh', 'DELETE /api/v1/agents/:agentId', {
    onDone: () => navigate('/'),
  });
  return (
    <>
      <Link href={`/tasks?agent=${encodeURIComponent(agentId)}`}>Run a task</Link>
      <Permitted needs="mesh:communicate">
        <ConfirmButton
          label="Deregister"
          onConfirm={() => removal.mutateAsync({ params: { agentId } })}
        >
          {agentId} of {ownerId} gets no more tasks. If it still runs, it may register again.
        </ConfirmButton>
      </Permitted>
    </>
  );
}

function Known({ agent }: { readonly agent: Agent }): ReactNode {
  return (
    <>
      <div className="columns">
        <section className="card">
          <h2>State</h2>
          <State agent={agent} />
        </section>
        <section className="card">
          <h2>Where it is reached</h2>
          <Endpoints endpoints={agent.endpoints} />
        </section>
        <section className="card">
          <h2>Keys</h2>
          <Keys agent={agent} />
        </section>
      </div>
      <section className="card">
        <h2>Capabilities</h2>
        <Capabilities agent={agent} />
      </section>
      <section className="card">
        <h2>Metadata</h2>
        <JsonView value={agent.metadata} />
      </section>
      <section className="stack">
        <h2>Recent activity</h2>
        <RecentActivity agentId={agent.agentId} />
      </section>
    </>
  );
}

function State({ agent }: { readonly agent: Agent }): ReactNode {
  return (
    <Facts
      facts={[
        ['Status', <AgentStatus key="status" status={agent.status} />],
        ['Load', <Load key="load" load={agent.load} />],
        ['Last heartbeat', `${formatAge(agent.lastSeen)}, due every ${agent.heartbeatInterval} s`],
        ['Registered', `${formatAge(agent.registeredAt)}, for the ${ordinal(agent.epoch)} time`],
        ['Owner', agent.ownerId],
        ['Tasks twice', agent.idempotent ? 'may be given to it' : 'must not be given to it'],
      ]}
    />
  );
}

function ordinal(count: number): string {
  const ending = { one: 'st', two: 'nd', few: 'rd' }[
    new Intl.PluralRules('en', { type: 'ordinal' }).select(count) as 'one' | 'two' | 'few'
  ];
  return `${count}${ending ?? 'th'}`;
}

function Endpoints({ endpoints }: Pick<Agent, 'endpoints'>): ReactNode {
  const { rest, grpc, a2a, a2aVersion } = endpoints;
  if (!rest && !grpc && !a2a) {
    return <p className="faint">No address: it comes for its tasks to its inbox.</p>;
  }
  return (
    <Facts
      facts={[
        ['HTTP', rest && <code key="rest">{rest}</code>],
        ['gRPC', grpc && <code key="grpc">{grpc}</code>],
        ['A2A', a2a && <code key="a2a">{a2a}</code>],
        ['A2A version', a2aVersion],
      ]}
    />
  );
}

function Keys({ agent: { publicKey, voteKey, card } }: { readonly agent: Agent }): ReactNode {
  return (
    <Facts
      facts={[
        [
          'Attestations',
          publicKey ? <code key="key">{publicKey}</code> : 'no key: it can prove nothing',
        ],
        ['Votes', voteKey ? <code key="vote">{voteKey}</code> : 'no key: its votes are not signed'],
        ['Card', card && `${card.name} ${card.version ?? ''}`],
        [
          'Card signature',
          card && (card.verified ? 'by a pinned key' : 'not signed by a key that was pinned'),
        ],
      ]}
    />
  );
}

function Capabilities({ agent }: { readonly agent: Agent }): ReactNode {
  const { agentId, publicKey, capabilities } = agent;
  const attested = useAttestedCapabilities(agentId, publicKey ? capabilities : []);
  if (capabilities.length === 0) return <p className="faint">It names none.</p>;
  return (
    <ul className="plain">
      {capabilities.map((capability) => (
        <li key={capability} className="row">
          <span className="chip">{capability}</span>
          {attested?.has(capability) ? <Badge state="attested" tone="good" /> : null}
          <Link
            href={`/tasks?agent=${encodeURIComponent(agentId)}&type=${encodeURIComponent(capability)}`}
          >
            Run
          </Link>
        </li>
      ))}
    </ul>
  );
}

function RecentActivity({ agentId }: { readonly agentId: string }): ReactNode {
  const { lines, state, refusal } = useActivity({ agentIds: [agentId], eventTypes: [] });
  return (
    <ActivityTable
      lines={lines}
      state={state}
      refusal={refusal}
      emptyText="Nothing that is still kept; what it does from now on comes here at once."
    />
  );
}
