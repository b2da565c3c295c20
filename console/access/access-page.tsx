import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function AccessPage(): ReactNode {
  return (
    <Page title="Access">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
