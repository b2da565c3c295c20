import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { BalancePage } from './balance-page.tsx';
import { ConnectionDetail } from './connection-detail.tsx';
import { ConnectionList } from './connection-list.tsx';
import './tools.css';
import { VirtualServerEditor } from './virtual-server-editor.tsx';
import { VirtualServerList } from './virtual-server-list.tsx';

/** The registry: MCP servers, what they offer, how busy they are, and subsets of them. */
export function ToolsPage(): ReactNode {
  return (
    <div className="tools">
      <Switch>
        <Route path="/">
          <ConnectionList />
        </Route>
        <Route path="/balance">
          <BalancePage />
        </Route>
        <Route path="/virtual-servers">
          <VirtualServerList />
        </Route>
        <Route path="/virtual-servers/:virtualServerId">
          {({ virtualServerId }) => (
            <VirtualServerEditor key={virtualServerId} virtualServerId={virtualServerId} />
          )}
        </Route>
        <Route path="/:connectionId">
          {({ connectionId }) => (
            <ConnectionDetail key={connectionId} connectionId={connectionId} />
          )}
        </Route>
        <Route>
          <NoSuchPage />
        </Route>
      </Switch>
    </div>
  );
}
