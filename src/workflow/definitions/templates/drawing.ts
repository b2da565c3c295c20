import type { Flow, FlowEdge, FlowNode } from '../../flow/flow.ts';

const columnWidth = 280;
const rowHeight = 140;

const patient = {
  enabled: true,
  maxAttempts: 3,
  backoff: 'exponential',
  initialDelay: 1_000,
} as const;

/** A node at a column and a row of the drawing. */
export function node(
  id: string,
  type: string,
  {
    at,
    ...rest
  }: { readonly at: readonly [number, number] } & Omit<FlowNode, 'id' | 'type' | 'position'>,
): FlowNode {
  const [column, row] = at;
  return { id, type, position: { x: column * columnWidth, y: row * rowHeight }, ...rest };
}

/** The same, tried three times: for what calls something that may be away for a moment. */
export function patientNode(...[id, type, rest]: Parameters<typeof node>): FlowNode {
  return node(id, type, { ...rest, retry: patient });
}

/** Edges along a chain: `a > b > c`, with a handle as `a:true > b`. */
export function edges(...chains: readonly string[]): FlowEdge[] {
  return chains.flatMap((chain) => {
    const stops = chain.split(' > ');
    return stops.slice(1).map((stop, place) => edge(stops[place] ?? '', stop));
  });
}

function edge(from: string, to: string): FlowEdge {
  const [source = '', sourceHandle] = from.split(':');
  const [target = ''] = to.split(':');
  return { source, target, ...(sourceHandle === undefined ? {} : { sourceHandle }) };
}

/** A flow without bounds of its own. */
export function flowOf(nodes: readonly FlowNode[], ...chains: readonly string[]): Flow {
  return { nodes, edges: edges(...chains) };
}
