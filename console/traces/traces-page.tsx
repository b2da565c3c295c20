import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function TracesPage(): ReactNode {
  return (
    <Page title="Traces">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
