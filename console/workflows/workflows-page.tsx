import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function WorkflowsPage(): ReactNode {
  return (
    <Page title="Workflows">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
