import { Handle, Position, type NodeProps } from '@xyflow/react';
import type { ReactNode } from 'react';
import { formatDuration } from '../../ui/text.ts';
import type { CanvasNode } from '../flow/canvas-flow.ts';
import { edgesOf, nameOf, type Component, type FlowNode } from '../flow/flow.ts';
import { handlesOf, type Handle as WayOut } from '../flow/handles.ts';
import type { NodeState } from '../flow/runs.ts';
import { useCanvasFacts } from './canvas-context.ts';

/** A node of a flow on the canvas: its name, its ways out, its faults, and how it stands in an execution. */
export function StepNode({ data: { node }, selected }: NodeProps<CanvasNode>): ReactNode {
  const { flow, components, faults, states } = useCanvasFacts();
  const component = components.get(node.type);
  const edges = edgesOf(flow).filter(({ source }) => source === node.id);
  const own = faults.filter(({ nodeId }) => nodeId === node.id);
  const state = states?.get(node.id);
  const classes = [
    'workflow-step',
    component?.group ?? 'unknown',
    selected ? 'selected' : '',
    own.length > 0 ? 'faulty' : '',
    states ? (state?.status ?? 'unreached') : '',
  ];
  return (
    <div className={classes.filter(Boolean).join(' ')} data-node={node.id}>
      <Handle type="target" position={Position.Left} />
      <StepText node={node} component={component} />
      {states ? <StepState state={state} /> : null}
      {own.length > 0 ? (
        <ul className="workflow-faults">
          {own.map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      ) : null}
      <WaysOut handles={handlesOf({ node, component, edges })} />
    </div>
  );
}

function WaysOut({ handles }: { readonly handles: readonly WayOut[] }) {
  const [only] = handles;
  if (handles.length === 1 && only?.label === '') {
    return <Handle type="source" id={only.id} position={Position.Right} />;
  }
  return handles.map(({ id, label, isKnown }) => (
    <div key={id} className={isKnown ? 'workflow-handle' : 'workflow-handle unknown'}>
      {label || 'then'}
      <Handle type="source" id={id} position={Position.Right} />
    </div>
  ));
}

interface StepTextProps {
  readonly node: FlowNode;
  readonly component: Component | undefined;
}

function StepText({ node, component }: StepTextProps) {
  return (
    <div className="workflow-step-text">
      <strong>{nameOf(node)}</strong>
      <span className="faint">{component?.title ?? `${node.type}, which is not known here`}</span>
    </div>
  );
}

function StepState({ state }: { readonly state: NodeState | undefined }) {
  if (!state) return null;
  const { status, count, duration } = state;
  return (
    <div className="workflow-step-state">
      {status}
      {count > 1 ? ` × ${count}` : ''}
      {duration === undefined || status === 'skipped' ? '' : `, ${formatDuration(duration)}`}
    </div>
  );
}
