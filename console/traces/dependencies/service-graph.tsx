import {
  Background,
  Controls,
  Handle,
  Position,
  ReactFlow,
  type NodeProps,
  type NodeTypes,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useMemo, type ReactNode } from 'react';
import { formatCount, formatShare } from '../../ui/text.ts';
import type { Dependencies } from '../parts/answers.ts';
import { edgesOf, nodesOf, type ServiceNode } from './flow.ts';

export interface ServiceGraphProps {
  readonly graph: Dependencies;
  readonly chosenId: string | undefined;
  readonly onChoose: (serviceId: string | undefined) => void;
}

/** Services and what they call, drawn from left to right. */
export function ServiceGraph({ graph, chosenId, onChoose }: ServiceGraphProps): ReactNode {
  const placed = useMemo(() => nodesOf(graph), [graph]);
  const edges = useMemo(() => edgesOf(graph, chosenId), [graph, chosenId]);
  const nodes = useMemo(
    () => placed.map((node) => ({ ...node, selected: node.id === chosenId })),
    [placed, chosenId],
  );
  return (
    <section className="card service-graph" aria-label="Service graph">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.2}
        colorMode="system"
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        onNodeClick={(_event, { id }) => onChoose(id === chosenId ? undefined : id)}
        onPaneClick={() => onChoose(undefined)}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}

const nodeTypes: NodeTypes = { service: ServiceCard };

function ServiceCard({ data: { service }, selected }: NodeProps<ServiceNode>): ReactNode {
  const { serviceName, type, requestsHandled, errorRate } = service;
  return (
    <div className={`service-card ${type} ${selected ? 'chosen' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <strong>{serviceName}</strong>
      <span className="faint">
        {type === 'service' ? '' : `${type}, `}
        {formatCount(requestsHandled)} calls
        {errorRate > 0 ? (
          <span className="failed-figure">, {formatShare(errorRate)} failed</span>
        ) : null}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}
