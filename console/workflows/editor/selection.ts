import type { EdgeChange, NodeChange } from '@xyflow/react';
import type { CanvasEdge, CanvasNode } from '../flow/canvas-flow.ts';

/** What is selected on a canvas: nodes by id, edges by their place in the flow. */
export interface Selection {
  readonly nodes: readonly string[];
  readonly edges: readonly number[];
}

/** Takes a selection, or makes one of the former. */
export type Select = (next: Selection | ((before: Selection) => Selection)) => void;

export const nothingSelected: Selection = { nodes: [], edges: [] };

export function selectNode(id: string): Selection {
  return { nodes: [id], edges: [] };
}

/** The selection after changes of nodes on the canvas. */
export function selectNodes(
  selection: Selection,
  changes: readonly NodeChange<CanvasNode>[],
): Selection {
  return { ...selection, nodes: applySelects(selection.nodes, selectsIn(changes)) };
}

/** The selection after changes of edges on the canvas. */
export function selectEdges(
  selection: Selection,
  changes: readonly EdgeChange<CanvasEdge>[],
): Selection {
  const selects = selectsIn(changes).map(([id, isOn]): Toggle<number> => [Number(id), isOn]);
  return { ...selection, edges: applySelects(selection.edges, selects) };
}

type Toggle<T> = readonly [id: T, isSelected: boolean];

function selectsIn(
  changes: readonly (NodeChange<CanvasNode> | EdgeChange<CanvasEdge>)[],
): readonly Toggle<string>[] {
  return changes.flatMap((change): Toggle<string>[] =>
    change.type === 'select' ? [[change.id, change.selected]] : [],
  );
}

function applySelects<T>(before: readonly T[], selects: readonly Toggle<T>[]): readonly T[] {
  const selected = new Set(before);
  for (const [id, isOn] of selects) {
    if (isOn) selected.add(id);
    else selected.delete(id);
  }
  return [...selected];
}
