import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function ModelsPage(): ReactNode {
  return (
    <Page title="Models">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
