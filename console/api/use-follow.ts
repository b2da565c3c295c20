import { useEffect, useEffectEvent, useState } from 'react';
import type { ServiceName } from './contracts.ts';
import { Follower, type FollowOptions, type FollowState, type Gap } from './follow.ts';

export interface Following {
  readonly state: FollowState;
  /** Why the service does not take the subscription, in its words. */
  readonly refusal: string | undefined;
}

/** Follows a service's stream for as long as the component is there; begins anew with another subscription. */
export function useFollow(
  service: ServiceName,
  path: string,
  { subscription, historyCount, ...told }: Omit<FollowOptions, 'onState' | 'onRefusal'>,
): Following {
  const [state, setState] = useState<FollowState>('connecting');
  const [refused, setRefused] = useState<{ wanted: string; message: string }>();
  const onEvent = useEffectEvent((event: unknown, seq: number) => told.onEvent(event, seq));
  const onGap = useEffectEvent((gap: Gap) => told.onGap?.(gap));
  const wanted = JSON.stringify(subscription ?? {});
  useEffect(() => {
    const follower = new Follower(service, path, {
      subscription: JSON.parse(wanted) as Record<string, unknown>,
      ...(historyCount === undefined ? {} : { historyCount }),
      onEvent: (event, seq) => onEvent(event, seq),
      onGap: (gap) => onGap(gap),
      onState: setState,
      onRefusal: (message) => setRefused({ wanted, message }),
    });
    return () => follower.stop();
  }, [service, path, wanted, historyCount]);
  return { state, refusal: refused?.wanted === wanted ? refused.message : undefined };
}
