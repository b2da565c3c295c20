import type { ReactNode } from 'react';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function ChatPage(): ReactNode {
  return (
    <Page title="Chat">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
