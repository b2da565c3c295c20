import { lazy, Suspense, type ComponentType, type ReactNode } from 'react';
import { OverviewPage } from './overview/overview-page.tsx';

export interface Area {
  /** Where its pages are; they find their own way below it. */
  readonly path: string;
  readonly title: string;
  readonly Page: ComponentType;
}

/** Loads an area when it is first opened. */
export function later(load: () => Promise<ComponentType>): ComponentType {
  const Loaded = lazy(async () => ({ default: await load() }));
  return function Later(): ReactNode {
    return (
      <Suspense fallback={<p className="faint">Loading …</p>}>
        <Loaded />
      </Suspense>
    );
  };
}

/** What the console shows, in the order of its bar. */
export const areas: readonly Area[] = [
  { path: '/', title: 'Overview', Page: OverviewPage },
  {
    path: '/chat',
    title: 'Chat',
    Page: later(async () => (await import('./chat/chat-page.tsx')).ChatPage),
  },
  {
    path: '/workflows',
    title: 'Workflows',
    Page: later(async () => (await import('./workflows/workflows-page.tsx')).WorkflowsPage),
  },
  {
    path: '/traces',
    title: 'Traces',
    Page: later(async () => (await import('./traces/traces-page.tsx')).TracesPage),
  },
  {
    path: '/agents',
    title: 'Agents',
    Page: later(async () => (await import('./agents/agents-page.tsx')).AgentsPage),
  },
  {
    path: '/tools',
    title: 'Tools',
    Page: later(async () => (await import('./tools/tools-page.tsx')).ToolsPage),
  },
  {
    path: '/models',
    title: 'Models',
    Page: later(async () => (await import('./models/models-page.tsx')).ModelsPage),
  },
  {
    path: '/studio',
    title: 'Studio',
    Page: later(async () => (await import('./studio/studio-page.tsx')).StudioPage),
  },
  {
    path: '/access',
    title: 'Access',
    Page: later(async () => (await import('./access/access-page.tsx')).AccessPage),
  },
];
