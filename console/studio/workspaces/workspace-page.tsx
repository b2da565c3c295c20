import type { ReactNode } from 'react';
import { Link, Route, Switch } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { NoSuchTab } from '../../ui/no-such-page.tsx';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tab-links.tsx';
import { AgentPage } from '../agents/agent-page.tsx';
import { AgentsTab } from '../agents/agents-tab.tsx';
import type { Workspace } from '../answers.ts';
import { FilesTab } from '../files/files-tab.tsx';
import { useHeldFiles } from '../files/held-files.ts';
import { useLeaveGuard } from '../files/kept-edits.ts';
import { SyncTab } from '../sync/sync-tab.tsx';
import { TaskPage } from '../tasks/task-page.tsx';
import { TasksTab } from '../tasks/tasks-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { useRights } from './use-rights.ts';

/** A workspace: its files, who works in it, and how it is set up. */
export function WorkspacePage({ id }: { readonly id: string }): ReactNode {
  const workspace = useAnswer('studio', 'GET /api/v1/workspaces/:id', { params: { id } });
  return (
    <Answered query={workspace} title={<Trail name={id} />}>
      {(found) => <OpenWorkspace workspace={found} />}
    </Answered>
  );
}

/** Leads back to all workspaces. */
function Trail({ name }: { readonly name: string }) {
  return (
    <>
      <Link href="~/studio">Studio</Link> / {name}
    </>
  );
}

function OpenWorkspace({ workspace }: { readonly workspace: Workspace }) {
  const { mayReadFiles, maySeeAgents } = useRights(workspace);
  const held = useHeldFiles(workspace.id, mayReadFiles);
  useLeaveGuard();
  const tabs = [
    ...(mayReadFiles ? [{ path: '/', title: 'Files' }] : []),
    ...(maySeeAgents
      ? [
          { path: '/agents', title: 'Agents' },
          { path: '/tasks', title: 'Tasks' },
        ]
      : []),
    { path: '/sync', title: 'Sync' },
    { path: '/settings', title: 'Settings' },
  ];
  return (
    <Page
      title={<Trail name={workspace.name} />}
      actions={<span className="faint">{workspace.description}</span>}
    >
      <TabLinks label="Parts of the workspace" tabs={tabs} />
      <Switch>
        <Route path="/">
          {mayReadFiles ? (
            <FilesTab workspace={workspace} held={held} />
          ) : (
            <Empty title="Your role in this workspace does not read its files" />
          )}
        </Route>
        <Route path="/agents">
          <AgentsTab workspace={workspace} />
        </Route>
        <Route path="/agents/:agentId">
          {({ agentId }) => <AgentPage key={agentId} workspace={workspace} id={agentId} />}
        </Route>
        <Route path="/tasks">
          <TasksTab workspace={workspace} />
        </Route>
        <Route path="/tasks/:taskId">
          {({ taskId }) => <TaskPage workspace={workspace} id={taskId} />}
        </Route>
        <Route path="/sync">
          <SyncTab workspace={workspace} />
        </Route>
        <Route path="/settings">
          <SettingsTab workspace={workspace} />
        </Route>
        <Route>
          <NoSuchTab />
        </Route>
      </Switch>
    </Page>
  );
}
