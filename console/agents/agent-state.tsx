import type { ReactNode } from 'react';
import { Badge } from '../ui/badge.tsx';

/** How an agent is, in a word. */
export function AgentStatus({ status }: { readonly status: string }): ReactNode {
  return <Badge state={status} {...(status === 'draining' ? { tone: 'warning' } : {})} />;
}

/** How much of what an agent can do at once it is doing, 0..1. */
export function Load({ load }: { readonly load: number }): ReactNode {
  const percent = Math.round(load * 100);
  return (
    <span className="load">
      <meter min={0} max={1} high={0.9} value={load} aria-label="Load" /> {percent} %
    </span>
  );
}
