import { refusalOf } from '../flow/connections.ts';
import { addEdge, addNode, freeIdOf } from '../flow/edits.ts';
import { edgesOf, type Components, type Flow, type FlowNode } from '../flow/flow.ts';
import { handlesOf, plainHandle } from '../flow/handles.ts';
import type { Selection } from './selection.ts';

export interface Placing {
  readonly component: string;
  /** Where it was dropped; behind the selected node, else behind all, when absent. */
  readonly place: { readonly x: number; readonly y: number } | undefined;
  readonly selection: Selection;
  readonly components: Components;
}

const step = { x: 290, y: 130 };

/** The flow with a new node. One that was not dropped anywhere is led to by the selected node. */
export function placeBehind(
  flow: Flow,
  { component, place, selection, components }: Placing,
): { readonly flow: Flow; readonly id: string } {
  const id = freeIdOf(flow, component);
  const [selectedId] = selection.nodes;
  const before = flow.nodes.find((node) => node.id === selectedId);
  const position = round(place ?? findPlace(flow, before));
  const added = addNode(flow, { id, type: component, position, data: {} });
  if (place || !before) return { flow: added, id };
  const [handle] = freeHandles(added, before, components);
  const edge = {
    source: before.id,
    target: id,
    ...(handle === undefined || handle === plainHandle ? {} : { sourceHandle: handle }),
  };
  const isRefused = handle === undefined || refusalOf(added, edge, components) !== undefined;
  return { flow: isRefused ? added : addEdge(added, edge), id };
}

/** The ways out of a node that lead nowhere yet. */
function freeHandles(flow: Flow, node: FlowNode, components: Components): readonly string[] {
  const edges = edgesOf(flow).filter(({ source }) => source === node.id);
  const used = new Set(edges.map(({ sourceHandle }) => sourceHandle ?? plainHandle));
  const handles = handlesOf({ node, component: components.get(node.type), edges });
  return handles.map(({ id }) => id).filter((id) => !used.has(id));
}

/** At the right of a node, below what stands there already. */
function findPlace({ nodes }: Flow, before: FlowNode | undefined) {
  const from = before?.position ?? { x: -step.x, y: 0 };
  const place = { x: from.x + step.x, y: from.y };
  const isTaken = () =>
    nodes.some(
      ({ position }) =>
        position &&
        Math.abs(position.x - place.x) < step.x * 0.8 &&
        Math.abs(position.y - place.y) < step.y * 0.8,
    );
  while (isTaken()) place.y += step.y;
  return place;
}

function round({ x, y }: { readonly x: number; readonly y: number }) {
  return { x: Math.round(x), y: Math.round(y) };
}
