import type { Flow } from './flow.ts';
import type { GraphEdge } from './cycles.ts';

/** Whether an edge of a Parallel begins one of its tasks; on `error` it is left when it has failed. */
export function leadsToTask({ edges }: Flow, { index }: GraphEdge): boolean {
  return edges[index]?.sourceHandle !== 'error';
}
