import type { Edge, Node } from '@xyflow/react';
import { edgesOf, nameOf, type Flow, type FlowEdge, type FlowNode } from './flow.ts';
import { plainHandle } from './handles.ts';

/** A node on the canvas; it brings the flow's own along, with fields that the canvas knows nothing of. */
export type CanvasNode = Node<{ node: FlowNode }, 'step'>;
export type CanvasEdge = Edge<{ edge: FlowEdge; index: number }>;

export interface Canvas {
  readonly nodes: readonly CanvasNode[];
  readonly edges: readonly CanvasEdge[];
}

/** A flow as the canvas draws it. */
export function toCanvas(flow: Flow): Canvas {
  const lefts = new Map(flow.nodes.map(({ id, position }) => [id, position?.x ?? 0]));
  const edges = edgesOf(flow).map((edge, index) => {
    const leadsBack = (lefts.get(edge.target) ?? 0) <= (lefts.get(edge.source) ?? 0);
    // A curve that leads back would cross both of its nodes.
    return { ...toCanvasEdge(edge, index), type: leadsBack ? 'smoothstep' : 'default' };
  });
  return { nodes: flow.nodes.map(toCanvasNode), edges };
}

function toCanvasNode(node: FlowNode): CanvasNode {
  const { id, position = { x: 0, y: 0 } } = node;
  return { id, type: 'step', position, data: { node }, ariaLabel: `${nameOf(node)}, ${node.type}` };
}

function toCanvasEdge(edge: FlowEdge, index: number): CanvasEdge {
  const { source, target, sourceHandle, condition } = edge;
  return {
    id: `${index}`,
    source,
    target,
    sourceHandle: sourceHandle ?? plainHandle,
    data: { edge, index },
    ariaLabel: `from ${source} to ${target}`,
    ...(condition === undefined ? {} : { label: `if ${condition}` }),
  };
}

/** The flow with the places of the canvas, and only with the nodes and edges that are still on it. */
export function toFlow({ nodes, edges }: Canvas, flow: Flow): Flow {
  const kept = edges.flatMap(({ data }) => (data ? [data.edge] : []));
  return {
    ...flow,
    nodes: nodes.map(({ data: { node }, position }) => placeNode(node, position)),
    ...(flow.edges || kept.length > 0 ? { edges: kept } : {}),
  };
}

function placeNode(node: FlowNode, { x, y }: { readonly x: number; readonly y: number }): FlowNode {
  const { x: formerX, y: formerY } = node.position ?? { x: 0, y: 0 };
  if (formerX === x && formerY === y) return node;
  return { ...node, position: { x: Math.round(x), y: Math.round(y) } };
}
