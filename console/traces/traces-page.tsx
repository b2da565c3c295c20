import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { NoSuchPage } from '../ui/no-such-page.tsx';
import { AlertsPage } from './alerts/alerts-page.tsx';
import { ComparePage } from './compare/compare-page.tsx';
import { DependenciesPage } from './dependencies/dependencies-page.tsx';
import { MetricsPage } from './metrics/metrics-page.tsx';
import { SearchPage } from './search/search-page.tsx';
import { TracePage } from './trace/trace-page.tsx';
import './traces.css';

/** Everything that the tracer knows: single traces, sums of many, who calls whom, and alerts. */
export function TracesPage(): ReactNode {
  return (
    <div className="traces-area">
      <Switch>
        <Route path="/">
          <SearchPage />
        </Route>
        <Route path="/metrics">
          <MetricsPage />
        </Route>
        <Route path="/dependencies">
          <DependenciesPage />
        </Route>
        <Route path="/alerts">
          <AlertsPage />
        </Route>
        <Route path="/compare">
          <ComparePage />
        </Route>
        <Route path="/:traceId">
          {({ traceId }) => <TracePage key={traceId} traceId={traceId} />}
        </Route>
        <Route>
          <NoSuchPage />
        </Route>
      </Switch>
    </div>
  );
}
