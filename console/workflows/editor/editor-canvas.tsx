import { useReactFlow, type Connection, type EdgeChange, type NodeChange } from '@xyflow/react';
import { useMemo, useRef, useState, type DragEvent, type ReactNode } from 'react';
import { useIsAllowed } from '../../session/person.ts';
import { FlowCanvas, type ConnectionEnd } from '../canvas/flow-canvas.tsx';
import { useMeasures } from '../canvas/use-measures.ts';
import { toCanvas, toFlow, type CanvasEdge, type CanvasNode } from '../flow/canvas-flow.ts';
import { refusalOf } from '../flow/connections.ts';
import { addEdge, removeEdge, removeNode } from '../flow/edits.ts';
import type { Components, Flow, FlowEdge, FlowFault } from '../flow/flow.ts';
import { plainHandle } from '../flow/handles.ts';
import { draggedType } from './palette.tsx';
import {
  nothingSelected,
  selectEdges,
  selectNodes,
  type Select,
  type Selection,
} from './selection.ts';

export interface EditorCanvasProps {
  readonly flow: Flow;
  readonly components: Components;
  readonly faults: readonly FlowFault[];
  readonly selection: Selection;
  readonly onChange: (flow: Flow) => void;
  readonly onSelect: Select;
  readonly onDrop: (component: string, place: { readonly x: number; readonly y: number }) => void;
  /** Why something that was tried cannot be. */
  readonly onRefuse: (reason: string) => void;
}

/** The canvas on which a flow is drawn; who may not store what they draw looks at it. */
export function EditorCanvas(props: EditorCanvasProps): ReactNode {
  const { flow, components, faults, onChange, onSelect, onDrop, onRefuse } = props;
  const canvas = useCanvas(props);
  const mayDraw = useIsAllowed('workflow:create');
  // The view would jump at the first step that is dropped on an empty canvas.
  const [hadNodes] = useState(flow.nodes.length > 0);
  const { screenToFlowPosition } = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const component = event.dataTransfer.getData(draggedType);
    const place = screenToFlowPosition({ x: event.clientX, y: event.clientY });
    if (component) onDrop(component, place);
  };
  const isAllowed = (connection: Connection | CanvasEdge) =>
    refusalOf(flow, toFlowEdge(connection), components) === undefined;
  const tellRefusal = (_event: unknown, end: ConnectionEnd) => {
    if (end.isValid !== false || !end.toHandle) return;
    const reason = refusalOf(flow, toFlowEdge(connectionOf(end)), components);
    if (reason !== undefined) onRefuse(reason);
  };
  return (
    <FlowCanvas
      {...canvas}
      ref={box}
      tabIndex={-1}
      facts={{ flow, components, faults }}
      label="Canvas"
      fitView={hadNodes}
      nodesDraggable={mayDraw}
      nodesConnectable={mayDraw}
      deleteKeyCode={mayDraw ? ['Delete', 'Backspace'] : null}
      multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
      isValidConnection={isAllowed}
      onConnect={(connection) => onChange(addEdge(flow, toFlowEdge(connection)))}
      onConnectEnd={tellRefusal}
      onDelete={(gone) => {
        onSelect(nothingSelected);
        onChange(removeAll(flow, gone));
        // The step that had the focus is gone; the next key goes on from where it was.
        box.current?.focus();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
      }}
      onDrop={drop}
    />
  );
}

type Place = CanvasNode['position'];

/** The canvas's own state: what is dragged and measured, beside the flow and the selection. */
function useCanvas({ flow, faults, selection, onChange, onSelect }: EditorCanvasProps) {
  const measures = useMeasures();
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map());
  const drawn = useMemo(() => toCanvas(flow), [flow]);
  const placeNodes = (places: ReadonlyMap<string, Place>) =>
    drawn.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position }));
  const move = (changes: readonly NodeChange<CanvasNode>[]) => {
    const moves = changes.filter((change) => change.type === 'position');
    if (moves.length === 0) return;
    const found = moves.flatMap(({ id, position }): [string, Place][] =>
      position ? [[id, position]] : [],
    );
    const places = new Map([...dragged, ...found]);
    const isDone = moves.every(({ dragging }) => !dragging);
    setDragged(isDone ? new Map() : places);
    if (isDone) onChange(toFlow({ ...drawn, nodes: placeNodes(places) }, flow));
  };
  const chosen = new Set(selection.nodes);
  const nodes = measures.apply(placeNodes(dragged));
  return {
    nodes: nodes.map((node) => ({ ...node, selected: chosen.has(node.id) })),
    edges: drawn.edges.map((edge, at) => ({
      ...edge,
      selected: selection.edges.includes(at),
      className: faults.some((fault) => fault.edge === at) ? 'workflow-way-faulty' : '',
    })),
    onNodesChange: (changes: NodeChange<CanvasNode>[]) => {
      measures.note(changes);
      move(changes);
      if (hasSelect(changes)) onSelect((before) => selectNodes(before, changes));
    },
    onEdgesChange: (changes: EdgeChange<CanvasEdge>[]) => {
      if (hasSelect(changes)) onSelect((before) => selectEdges(before, changes));
    },
  };
}

function hasSelect(changes: readonly { readonly type: string }[]): boolean {
  return changes.some(({ type }) => type === 'select');
}

/** The connection that was tried, from either end. */
function connectionOf({ fromHandle, toHandle }: ConnectionEnd): Connected {
  const isForward = fromHandle?.type === 'source';
  const [source, target] = isForward ? [fromHandle, toHandle] : [toHandle, fromHandle];
  return {
    source: source?.nodeId ?? '',
    target: target?.nodeId ?? '',
    sourceHandle: source?.id ?? null,
  };
}

type Connected = Pick<Connection, 'source' | 'target'> & {
  readonly sourceHandle?: string | null;
};

function toFlowEdge({ source, target, sourceHandle }: Connected): FlowEdge {
  const isNamed = typeof sourceHandle === 'string' && sourceHandle !== plainHandle;
  return { source, target, ...(isNamed ? { sourceHandle } : {}) };
}

function removeAll(
  flow: Flow,
  gone: { readonly nodes: readonly CanvasNode[]; readonly edges: readonly CanvasEdge[] },
): Flow {
  const indexes = gone.edges.map(({ id }) => Number(id)).toSorted((one, other) => other - one);
  const cut = indexes.reduce(removeEdge, flow);
  return gone.nodes.reduce((left, { id }) => removeNode(left, id), cut);
}
