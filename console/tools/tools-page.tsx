import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function ToolsPage(): ReactNode {
  return (
    <Page title="Tools">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
