import type { ReactNode } from 'react';
import { TabLinks, type TabLink } from '../../ui/tab-links.tsx';

const tabs: readonly TabLink[] = [
  { path: '/', title: 'Workflows' },
  { path: '/executions', title: 'Executions' },
  { path: '/batches', title: 'Batches' },
  { path: '/templates', title: 'Templates' },
];

/** The way between the pages of the area. */
export function WorkflowsNav(): ReactNode {
  return <TabLinks label="Workflows and their runs" tabs={tabs} />;
}
