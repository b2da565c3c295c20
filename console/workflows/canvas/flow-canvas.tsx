import {
  Background,
  Controls,
  MarkerType,
  ReactFlow,
  type FinalConnectionState,
  type ReactFlowProps,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import type { ReactNode, Ref } from 'react';
import type { CanvasEdge, CanvasNode } from '../flow/canvas-flow.ts';
import { CanvasContext, type CanvasFacts } from './canvas-context.ts';
import { StepNode } from './step-node.tsx';

const nodeTypes = { step: StepNode };
const edgeOptions = {
  markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18, color: 'var(--faint)' },
};

export type ConnectionEnd = FinalConnectionState;

export interface FlowCanvasProps extends ReactFlowProps<CanvasNode, CanvasEdge> {
  readonly facts: CanvasFacts;
  readonly label: string;
  readonly ref?: Ref<HTMLDivElement>;
}

/** A flow, drawn; what may be done with it is said by the properties. */
export function FlowCanvas({ facts, label, ...flow }: FlowCanvasProps): ReactNode {
  return (
    <CanvasContext.Provider value={facts}>
      <ReactFlow<CanvasNode, CanvasEdge>
        aria-label={label}
        colorMode="system"
        nodeTypes={nodeTypes}
        defaultEdgeOptions={edgeOptions}
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.15}
        connectionRadius={30}
        {...flow}
      >
        <Background gap={20} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </CanvasContext.Provider>
  );
}
