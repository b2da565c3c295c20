import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Batch } from '../api/batch.ts';
import type { FollowState } from '../api/follow.ts';
import { useFollow } from '../api/use-follow.ts';

/** Many servers may be checked at once: one reading tells all of it. */
const gatheringMs = 400;

/** Has all that is shown of the registry read anew when its stream tells of a change. */
export function useRegistryNews(): FollowState {
  const client = useQueryClient();
  const [news] = useState(
    () =>
      new Batch<unknown>(gatheringMs, () => {
        void client.invalidateQueries({ queryKey: ['registry'] });
      }),
  );
  useEffect(() => () => news[Symbol.dispose](), [news]);
  const { state } = useFollow('registry', '/registry/stream', {
    subscription: { events: ['connection-status', 'health-check'] },
    onEvent: (event) => news.add(event),
    onGap: (gap) => news.add(gap),
  });
  return state;
}
