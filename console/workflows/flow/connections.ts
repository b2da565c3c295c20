import { edgesOf, type Components, type Flow, type FlowEdge } from './flow.ts';
import { handlesOf } from './handles.ts';

/** Why an edge cannot be added to a flow; undefined where it can. */
export function refusalOf(
  flow: Flow,
  { source, target, sourceHandle }: FlowEdge,
  components: Components,
): string | undefined {
  const handle = sourceHandle ?? undefined;
  if (source === target) return `${source} cannot lead to itself`;
  const edges = edgesOf(flow);
  const isThere = edges.some(
    (edge) =>
      edge.source === source &&
      edge.target === target &&
      (edge.sourceHandle ?? undefined) === handle,
  );
  if (isThere) return `${source} leads to ${target} already`;
  if (handle !== undefined && !hasHandle(flow, { source, handle }, components)) {
    return `${source} never ends on ${handle}`;
  }
  if (!leadsBack(flow, { source, target })) return undefined;
  return `${target} leads to ${source}: only a Loop may be led back to`;
}

function hasHandle(
  flow: Flow,
  { source, handle }: { readonly source: string; readonly handle: string },
  components: Components,
): boolean {
  const node = flow.nodes.find(({ id }) => id === source);
  if (!node) return false;
  const component = components.get(node.type);
  return handlesOf({ node, component, edges: [] }).some(({ id }) => id === handle);
}

/** Whether the edge would close a circle that no Loop lies on. */
function leadsBack(
  flow: Flow,
  { source, target }: { readonly source: string; readonly target: string },
): boolean {
  const loops = new Set(flow.nodes.filter(({ type }) => type === 'Loop').map(({ id }) => id));
  const seen = new Set<string>();
  const open = [target];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (loops.has(id) || seen.has(id)) continue;
    if (id === source) return true;
    seen.add(id);
    for (const edge of edgesOf(flow)) if (edge.source === id) open.push(edge.target);
  }
  return false;
}
