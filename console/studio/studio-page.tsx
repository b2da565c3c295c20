import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function StudioPage(): ReactNode {
  return (
    <Page title="Studio">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
