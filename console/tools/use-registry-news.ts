import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { FollowState } from '../api/follow.ts';
import { useFollow } from '../api/use-follow.ts';

/** Many servers may be checked at once: one reading tells all of it. */
const gatheringMs = 400;

/** Has all that is shown of the registry read anew when its stream tells of a change. */
export function useRegistryNews(): FollowState {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const read = () => {
    timer.current = undefined;
    void client.invalidateQueries({ queryKey: ['registry'] });
  };
  const gather = () => {
    timer.current ??= setTimeout(read, gatheringMs);
  };
  const { state } = useFollow('registry', '/registry/stream', {
    subscription: { events: ['connection-status', 'health-check'] },
    onEvent: gather,
    onGap: gather,
  });
  return state;
}
