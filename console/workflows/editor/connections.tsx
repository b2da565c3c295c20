import { useState, type ReactNode } from 'react';
import { refusalOf } from '../flow/connections.ts';
import { addEdge, removeEdge } from '../flow/edits.ts';
import { edgesOf, nameOf, type Components, type Flow, type FlowNode } from '../flow/flow.ts';
import { handlesOf, plainHandle } from '../flow/handles.ts';
import type { Selection } from './selection.ts';

export interface ConnectionsProps {
  readonly flow: Flow;
  readonly node: FlowNode;
  readonly components: Components;
  readonly onChange: (flow: Flow) => void;
  readonly onSelect: (selection: Selection) => void;
}

/** Where a step leads, and a way to connect it without a mouse. */
export function Connections(props: ConnectionsProps): ReactNode {
  const { flow, node, onChange, onSelect } = props;
  const own = edgesOf(flow).flatMap((edge, index) =>
    edge.source === node.id ? [{ edge, index }] : [],
  );
  return (
    <section className="stack" aria-label="Connections">
      <h2>Leads to</h2>
      {own.length === 0 ? <p className="faint workflow-flat">Nothing yet.</p> : null}
      {own.map(({ edge: { target, sourceHandle, condition }, index }) => (
        <div key={index} className="row">
          <button
            type="button"
            className="quiet workflow-grow"
            onClick={() => onSelect({ nodes: [], edges: [index] })}
          >
            {sourceHandle ? `${sourceHandle} → ` : ''}
            {target}
            {condition === undefined ? '' : ` if ${condition}`}
          </button>
          <button
            type="button"
            className="quiet"
            aria-label={`Disconnect ${target}`}
            onClick={() => onChange(removeEdge(flow, index))}
          >
            ✕
          </button>
        </div>
      ))}
      <Connecting {...props} />
    </section>
  );
}

function Connecting({ flow, node, components, onChange }: ConnectionsProps) {
  const edges = edgesOf(flow).filter(({ source }) => source === node.id);
  const handles = handlesOf({ node, component: components.get(node.type), edges }).filter(
    ({ isKnown }) => isKnown,
  );
  const [chosen, setChosen] = useState<string>();
  const handle = handles.some(({ id }) => id === chosen) ? chosen : handles[0]?.id;
  const edgeTo = (target: string) => ({
    source: node.id,
    target,
    ...(handle === undefined || handle === plainHandle ? {} : { sourceHandle: handle }),
  });
  const targets = flow.nodes.filter(
    ({ id }) => refusalOf(flow, edgeTo(id), components) === undefined,
  );
  return (
    <div className="row">
      {handles.length > 1 ? (
        <select
          aria-label="Way out"
          value={handle}
          onChange={({ target }) => setChosen(target.value)}
        >
          {handles.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      ) : null}
      <select
        aria-label="Connect to"
        value=""
        disabled={targets.length === 0}
        onChange={({ target }) => onChange(addEdge(flow, edgeTo(target.value)))}
      >
        <option value="">connect to …</option>
        {targets.map((target) => (
          <option key={target.id} value={target.id}>
            {nameOf(target)}
          </option>
        ))}
      </select>
    </div>
  );
}
