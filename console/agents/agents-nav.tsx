import type { ReactNode } from 'react';
import { TabLinks, type TabLink } from '../ui/tab-links.tsx';

const tabs: readonly TabLink[] = [
  { path: '/', title: 'Agents' },
  { path: '/tasks', title: 'Tasks' },
  { path: '/swarms', title: 'Swarms' },
  { path: '/activity', title: 'Activity' },
  { path: '/certificates', title: 'Certificates' },
];

/** The way between the pages of the area. */
export function AgentsNav(): ReactNode {
  return <TabLinks label="Agents and their work" tabs={tabs} />;
}
