import type { ReactNode } from 'react';
import { TabLinks } from '../../ui/tab-links.tsx';

const tabs = [
  { path: '/', title: 'Search' },
  { path: '/metrics', title: 'Metrics' },
  { path: '/dependencies', title: 'Dependencies' },
  { path: '/alerts', title: 'Alerts' },
];

/** The way between the pages of the area. */
export function TracesNav(): ReactNode {
  return <TabLinks label="Traces" tabs={tabs} />;
}
