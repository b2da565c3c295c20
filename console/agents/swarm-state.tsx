import type { ReactNode } from 'react';
import { Badge, type Tone } from '../ui/badge.tsx';

const tones: Readonly<Record<string, Tone>> = {
  active: 'busy',
  'consensus-reached': 'good',
  rejected: 'bad',
  'timed-out': 'warning',
  cancelled: 'neutral',
};

/** How a swarm stands, in a word. */
export function SwarmState({ status }: { readonly status: string }): ReactNode {
  return <Badge state={status} tone={tones[status] ?? 'neutral'} />;
}

const voteTones: Readonly<Record<string, Tone>> = { approve: 'good', reject: 'bad' };

/** What a member said. */
export function Vote({ vote }: { readonly vote: string }): ReactNode {
  return <Badge state={vote} tone={voteTones[vote] ?? 'neutral'} />;
}
