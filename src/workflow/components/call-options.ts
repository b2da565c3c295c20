import type { NodeContext } from './component.ts';

/** What every call of a service takes from the node that causes it; a little time is left for the node's own end. */
export function callOptions({ signal, timeoutMs, span: parent }: NodeContext) {
  const margin = Math.min(100, timeoutMs / 10);
  return { signal, parent, timeoutMs: Math.max(1, Math.floor(timeoutMs - margin)) };
}
