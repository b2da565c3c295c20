import type { ReactNode } from 'react';
import { Badge, type Tone } from '../ui/badge.tsx';

const tones: Readonly<Record<string, Tone>> = { initializing: 'busy', disconnected: 'neutral' };

/** How a server answered when it was last asked, and why not well. */
export function Health({
  status,
  reason,
}: {
  readonly status: string;
  readonly reason?: string | undefined;
}): ReactNode {
  const tone = tones[status];
  return <Badge state={reason ? `${status}: ${reason}` : status} tone={tone ?? toneOf(status)} />;
}

function toneOf(status: string): Tone {
  if (status === 'healthy') return 'good';
  return status === 'degraded' ? 'warning' : 'bad';
}

/** The state of a connection. */
export function ConnectionState({ status }: { readonly status: string }): ReactNode {
  const tone = tones[status];
  return <Badge state={status} {...(tone ? { tone } : {})} />;
}
