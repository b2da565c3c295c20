import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function AgentsPage(): ReactNode {
  return (
    <Page title="Agents">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
