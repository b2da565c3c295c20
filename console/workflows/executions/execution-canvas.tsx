import { useMemo, type ReactNode } from 'react';
import { FlowCanvas } from '../canvas/flow-canvas.tsx';
import { useMeasures } from '../canvas/use-measures.ts';
import { toCanvas, type CanvasEdge } from '../flow/canvas-flow.ts';
import type { Components, Flow } from '../flow/flow.ts';
import type { NodeState } from '../flow/runs.ts';

export interface ExecutionCanvasProps {
  readonly flow: Flow;
  readonly components: Components;
  readonly states: ReadonlyMap<string, NodeState>;
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

/** A flow that runs; nothing of it can be changed. */
export function ExecutionCanvas(props: ExecutionCanvasProps): ReactNode {
  const { flow, components, states, selected, onSelect } = props;
  const measures = useMeasures();
  const drawn = useMemo(() => toCanvas(flow), [flow]);
  if (drawn.nodes.length === 0) return null;
  const nodes = measures.apply(drawn.nodes);
  return (
    <FlowCanvas
      facts={{ flow, components, faults: [], states }}
      label="Canvas"
      fitView
      nodes={nodes.map((node) => ({ ...node, selected: node.id === selected }))}
      edges={drawn.edges.map((edge) => styleEdge(edge, states))}
      onNodesChange={(changes) => {
        measures.note(changes);
        // Keys select too.
        for (const change of changes) {
          if (change.type === 'select' && change.selected) onSelect(change.id);
        }
      }}
      onPaneClick={() => onSelect(undefined)}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      deleteKeyCode={null}
    />
  );
}

/** Ways to steps that run move; those to steps that were never reached, or skipped, are faint. */
function styleEdge(edge: CanvasEdge, states: ReadonlyMap<string, NodeState>): CanvasEdge {
  const status = states.get(edge.target)?.status;
  const isTaken = status !== undefined && status !== 'skipped';
  return {
    ...edge,
    selectable: false,
    animated: status === 'running',
    className: isTaken ? '' : 'workflow-way-faint',
  };
}
