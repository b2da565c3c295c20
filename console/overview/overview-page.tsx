import type { ReactNode } from 'react';
import { Page } from '../ui/page.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LatestTraces } from './latest-traces.tsx';
import { ServiceStates } from './service-states.tsx';
import { Today } from './today.tsx';
import './overview.css';

/** How the suite is, what it did last, and how to begin. */
export function OverviewPage(): ReactNode {
  return (
    <Page title="Overview">
      <Today />
      <ServiceStates />
      <LatestTraces />
      <FirstSteps />
    </Page>
  );
}
