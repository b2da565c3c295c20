import type { ReactNode } from 'react';
import type { FollowState } from '../api/follow.ts';
import { Badge } from './badge.tsx';

/** Whether what is shown is told as it happens. */
export function LiveBadge({ state }: { readonly state: FollowState }): ReactNode {
  if (state === 'live') return <Badge state="live" tone="good" />;
  return <Badge state="connecting" tone="warning" />;
}
