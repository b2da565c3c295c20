import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { useIsAllowed } from '../session/person.ts';
import { Empty } from '../ui/empty.tsx';
import { NoSuchTab } from '../ui/no-such-page.tsx';
import { Page } from '../ui/page.tsx';
import { TabLinks } from '../ui/tab-links.tsx';
import { AccountTab } from './account/account-tab.tsx';
import { ApiKeysTab } from './api-keys/api-keys-tab.tsx';
import { AuditTab } from './audit/audit-tab.tsx';
import { GroupsTab } from './groups/groups-tab.tsx';
import { ProvidersTab } from './providers/providers-tab.tsx';
import { SessionsTab } from './sessions/sessions-tab.tsx';
import { SigningKeysTab } from './signing-keys/signing-keys-tab.tsx';
import { UserPage } from './users/user-page.tsx';
import { UsersTab } from './users/users-tab.tsx';
import './access.css';

const own = [
  { path: '/', title: 'Your account' },
  { path: '/sessions', title: 'Sessions' },
];

const administration = [
  { path: '/users', title: 'Users' },
  { path: '/api-keys', title: 'API keys' },
  { path: '/signing-keys', title: 'Signing keys' },
  { path: '/providers', title: 'Identity providers' },
  { path: '/groups', title: 'Groups' },
  { path: '/audit', title: 'Audit' },
];

/** One's own account, and for administrators those of all. */
export function AccessPage(): ReactNode {
  const isAdministrator = useIsAllowed('auth:admin');
  return (
    <Page title="Access">
      <TabLinks
        label="Parts of access"
        tabs={isAdministrator ? [...own, ...administration] : own}
      />
      <Switch>
        <Route path="/">
          <AccountTab />
        </Route>
        <Route path="/sessions">
          <SessionsTab />
        </Route>
        <Route>{isAdministrator ? <Administration /> : <NoAdministrator />}</Route>
      </Switch>
    </Page>
  );
}

function Administration() {
  return (
    <Switch>
      <Route path="/users">
        <UsersTab />
      </Route>
      <Route path="/users/:id">{({ id }) => <UserPage key={id} id={id} />}</Route>
      <Route path="/api-keys">
        <ApiKeysTab />
      </Route>
      <Route path="/signing-keys">
        <SigningKeysTab />
      </Route>
      <Route path="/providers">
        <ProvidersTab />
      </Route>
      <Route path="/groups">
        <GroupsTab />
      </Route>
      <Route path="/audit">
        <AuditTab />
      </Route>
      <Route>
        <NoSuchTab />
      </Route>
    </Switch>
  );
}

function NoAdministrator() {
  return (
    <Empty title="This is for administrators">
      <p>
        It takes the permission <code>auth:admin</code>, which you do not have.
      </p>
    </Empty>
  );
}
