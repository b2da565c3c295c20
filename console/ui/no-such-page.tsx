import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Empty } from './empty.tsx';
import { Page } from './page.tsx';

const title = 'There is no such page';

/** Stands where an address leads nowhere. */
export function NoSuchPage(): ReactNode {
  return (
    <Page title={title}>
      <p>
        <Link href="~/">Back to the overview</Link>
      </p>
    </Page>
  );
}

/** The same within a page that has a title of its own. */
export function NoSuchTab(): ReactNode {
  return <Empty title={title} />;
}
