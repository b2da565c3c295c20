import type { ReactNode } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { Page } from '../ui/page.tsx';
import { BudgetsTab } from './spend/budgets-tab.tsx';
import { CatalogueTab } from './catalogue/catalogue-tab.tsx';
import { LocalTab } from './local/local-tab.tsx';
import './models.css';
import { ProviderPage } from './providers/provider-page.tsx';
import { ProvidersTab } from './providers/providers-tab.tsx';
import { SpendTab } from './spend/spend-tab.tsx';

const tabs: readonly (readonly [path: string, title: string])[] = [
  ['/', 'All models'],
  ['/providers', 'Providers'],
  ['/spend', 'Spend'],
  ['/budgets', 'Budgets'],
  ['/local', 'Local models'],
];

/** The models that can be asked, who has them, what they cost, and those of this machine. */
export function ModelsPage(): ReactNode {
  return (
    <div className="models">
      <Page title="Models">
        <Tabs />
        <Switch>
          <Route path="/" component={CatalogueTab} />
          <Route path="/providers" component={ProvidersTab} />
          <Route path="/providers/:name">
            {({ name }) => <ProviderPage key={name} name={name} />}
          </Route>
          <Route path="/new-provider">
            <ProviderPage />
          </Route>
          <Route path="/spend" component={SpendTab} />
          <Route path="/budgets" component={BudgetsTab} />
          <Route path="/local" component={LocalTab} />
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </Page>
    </div>
  );
}

function Tabs(): ReactNode {
  const [location, navigate] = useLocation();
  return (
    <div className="tabs" role="tablist">
      {tabs.map(([path, title]) => (
        <button
          key={path}
          type="button"
          role="tab"
          aria-selected={isWithin(location, path)}
          onClick={() => navigate(path)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function isWithin(location: string, path: string): boolean {
  if (location === '/new-provider') return path === '/providers';
  return path === '/' ? location === '/' : location.startsWith(path);
}
