import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';

/** Stands where an address leads nowhere. */
export function NoSuchPage(): ReactNode {
  return <Empty title="There is no such page" />;
}
