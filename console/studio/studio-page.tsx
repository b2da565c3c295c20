import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { WorkspacePage } from './workspaces/workspace-page.tsx';
import { WorkspacesPage } from './workspaces/workspaces-page.tsx';
import './studio.css';

/** Workspaces, and what is in each of them. */
export function StudioPage(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <WorkspacesPage />
      </Route>
      <Route path="/:id" nest>
        {({ id }) => <WorkspacePage key={id} id={id} />}
      </Route>
      <Route>
        <NoSuchPage />
      </Route>
    </Switch>
  );
}
