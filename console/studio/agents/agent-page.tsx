import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatAge } from '../../ui/text.ts';
import type { StudioAgent, Workspace } from '../answers.ts';
import { NewTask } from '../tasks/new-task.tsx';
import { TaskList } from '../tasks/task-list.tsx';
import { useRights } from '../workspaces/use-rights.ts';
import { AgentBadge, hasEnded } from './agent-badge.tsx';
import { AgentHealth } from './agent-health.tsx';
import { AgentLog } from './agent-log.tsx';

const refreshMs = 5_000;

export interface AgentPageProps {
  readonly workspace: Workspace;
  readonly id: string;
}

/** An agent: how it does, what it prints, and its tasks. */
export function AgentPage({ workspace, id }: AgentPageProps): ReactNode {
  const { mayRunAgents } = useRights(workspace);
  const agent = useAnswer('studio', 'GET /api/v1/agents/:id', {
    params: { id },
    everyMs: refreshMs,
  });
  return (
    <Answered query={agent}>
      {(found) => (
        <div className="stack">
          <AgentHead agent={found} mayRun={mayRunAgents} />
          {found.failure ? (
            <Problem error={{ message: found.failure.message, code: found.failure.reason }} />
          ) : null}
          <div className="columns">
            <div className="stack">
              <AgentFacts agent={found} />
              {hasEnded(found) ? null : <AgentHealth id={id} />}
            </div>
            <section className="card stack" aria-label="Tasks of the agent">
              <h2>Tasks</h2>
              {mayRunAgents && !hasEnded(found) ? (
                <NewTask workspaceId={workspace.id} agentId={id} />
              ) : null}
              <TaskList workspaceId={workspace.id} agentId={id} />
            </section>
          </div>
          <AgentLog id={id} hasEnded={hasEnded(found)} />
        </div>
      )}
    </Answered>
  );
}

function AgentHead({ agent, mayRun }: { readonly agent: StudioAgent; readonly mayRun: boolean }) {
  const { id, name } = agent;
  const [, navigate] = useLocation();
  const stop = useChange('studio', 'POST /api/v1/agents/:id/stop');
  const params = { id };
  const deletion = useChange('studio', 'DELETE /api/v1/agents/:id', {
    onDone: () => navigate('/agents'),
  });
  return (
    <>
      <div className="row file-bar">
        <h2>
          <Link href="/agents">Agents</Link> / {name}
        </h2>
        <AgentBadge agent={agent} />
        {mayRun ? (
          <div className="actions">
            <button
              type="button"
              disabled={hasEnded(agent) || stop.isPending}
              onClick={() => stop.mutate({ params })}
            >
              Stop
            </button>
            <ConfirmButton
              label="Delete"
              title={`Delete ${name}?`}
              action="Delete it"
              onConfirm={() => deletion.mutateAsync({ params })}
            >
              <p>It is ended, and forgotten with its log. What it wrote in the workspace stays.</p>
            </ConfirmButton>
          </div>
        ) : null}
      </div>
      {stop.error ? <Problem error={stop.error} /> : null}
    </>
  );
}

function AgentFacts({ agent }: { readonly agent: StudioAgent }) {
  const { id, template, runtime, resources, capabilities } = agent;
  return (
    <section className="card" aria-label="About the agent">
      <h2>About</h2>
      <Facts
        facts={[
          ['Id', <code key="id">{id}</code>],
          ['Kind', `${template} on ${runtime}`],
          ['Can', capabilities.join(', ')],
          ['Limits', `${resources.cpu} cores, ${resources.memory}`],
          ['Spawned', formatAge(agent.createdAt)],
          ['Ends', agent.expiresAt && new Date(agent.expiresAt).toLocaleString()],
          ['Restarts', agent.restarts],
        ]}
      />
    </section>
  );
}
