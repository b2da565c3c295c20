import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchTab } from '../ui/no-such-page.tsx';
import { Page } from '../ui/page.tsx';
import { TabLinks, type TabLink } from '../ui/tab-links.tsx';
import { BudgetsTab } from './spend/budgets-tab.tsx';
import { CatalogueTab } from './catalogue/catalogue-tab.tsx';
import { LocalTab } from './local/local-tab.tsx';
import './models.css';
import { ProviderPage } from './providers/provider-page.tsx';
import { ProvidersTab } from './providers/providers-tab.tsx';
import { SpendTab } from './spend/spend-tab.tsx';

const tabs: readonly TabLink[] = [
  { path: '/', title: 'All models' },
  { path: '/providers', title: 'Providers', also: '/new-provider' },
  { path: '/spend', title: 'Spend' },
  { path: '/budgets', title: 'Budgets' },
  { path: '/local', title: 'Local models' },
];

/** The models that can be asked, who has them, what they cost, and those of this machine. */
export function ModelsPage(): ReactNode {
  return (
    <div className="models">
      <Page title="Models">
        <TabLinks label="Models and what they cost" tabs={tabs} />
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
            <NoSuchTab />
          </Route>
        </Switch>
      </Page>
    </div>
  );
}
