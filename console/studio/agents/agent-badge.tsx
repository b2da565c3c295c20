import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { StudioAgent } from '../answers.ts';

const tones: Readonly<Record<StudioAgent['status'], Tone>> = {
  starting: 'busy',
  running: 'good',
  restarting: 'warning',
  stopping: 'busy',
  stopped: 'neutral',
  expired: 'neutral',
  failed: 'bad',
};

/** The state of an agent: one that runs is well. */
export function AgentBadge({ agent }: { readonly agent: Pick<StudioAgent, 'status'> }): ReactNode {
  return <Badge state={agent.status} tone={tones[agent.status]} />;
}

/** Whether it has ended for good. */
export function hasEnded({ status }: Pick<StudioAgent, 'status'>): boolean {
  return status === 'stopped' || status === 'expired' || status === 'failed';
}
