import type { ReactNode } from 'react';
import { TabLinks, type TabLink } from '../ui/tab-links.tsx';

const tabs: readonly TabLink[] = [
  { path: '/', title: 'Connections' },
  { path: '/balance', title: 'Balance' },
  { path: '/virtual-servers', title: 'Virtual servers' },
];

/** The way between the pages of the area. */
export function ToolsNav(): ReactNode {
  return <TabLinks label="Tools and their servers" tabs={tabs} />;
}
