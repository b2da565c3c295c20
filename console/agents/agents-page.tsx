import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { ActivityPage } from './activity-page.tsx';
import { AgentDetail } from './agent-detail.tsx';
import { AgentList } from './agent-list.tsx';
import './agents.css';
import { CertificatesPage } from './certificates-page.tsx';
import { SwarmDetail } from './swarm-detail.tsx';
import { SwarmList } from './swarm-list.tsx';
import { TasksPage } from './tasks-page.tsx';

/** The mesh: its agents, what they do, decide and prove. */
export function AgentsPage(): ReactNode {
  return (
    <div className="agents">
      <Switch>
        <Route path="/">
          <AgentList />
        </Route>
        <Route path="/tasks">
          <TasksPage />
        </Route>
        <Route path="/swarms">
          <SwarmList />
        </Route>
        <Route path="/swarms/:swarmId">
          {({ swarmId }) => <SwarmDetail key={swarmId} swarmId={swarmId} />}
        </Route>
        <Route path="/activity">
          <ActivityPage />
        </Route>
        <Route path="/certificates">
          <CertificatesPage />
        </Route>
        <Route path="/:agentId">
          {({ agentId }) => <AgentDetail key={agentId} agentId={agentId} />}
        </Route>
        <Route>
          <NoSuchPage />
        </Route>
      </Switch>
    </div>
  );
}
