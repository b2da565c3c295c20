import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { changeEdge, removeEdge } from '../flow/edits.ts';
import {
  edgesOf,
  type Components,
  type Flow,
  type FlowEdge,
  type FlowFault,
} from '../flow/flow.ts';
import { handlesOf, plainHandle } from '../flow/handles.ts';
import { referencesFor } from '../flow/placeholders.ts';
import { ReferenceMenu } from './reference-menu.tsx';
import { nothingSelected, type Selection } from './selection.ts';

export interface EdgePanelProps {
  readonly flow: Flow;
  readonly edge: FlowEdge;
  readonly index: number;
  readonly components: Components;
  readonly faults: readonly FlowFault[];
  readonly onChange: (flow: Flow, topic?: string) => void;
  readonly onSelect: (selection: Selection) => void;
}

/** When a connection is taken. */
export function EdgePanel(props: EdgePanelProps): ReactNode {
  const { flow, edge, index, components, faults, onChange, onSelect } = props;
  const { source, target, condition = '' } = edge;
  const setCondition = (text: string) =>
    onChange(changeEdge(flow, index, { condition: text || undefined }), `condition ${index}`);
  return (
    <div className="stack">
      <h2>
        {source} → {target}
      </h2>
      <HandleField {...props} />
      <Field
        label="Condition"
        hint="CEL over the outputs of earlier steps, by their ids, and inputs. Without one it is always taken."
      >
        <textarea
          className="mono"
          value={condition}
          onChange={(event) => setCondition(event.target.value)}
        />
      </Field>
      <ReferenceMenu
        label="Insert into the condition"
        references={referencesFor(flow, target, components)}
        isCode
        onInsert={(reference) => setCondition(`${condition}${reference}`)}
      />
      {faults.map(({ message }) => (
        <span key={message} className="workflow-fault">
          {message}
        </span>
      ))}
      <button
        type="button"
        className="danger workflow-start"
        onClick={() => {
          onSelect(nothingSelected);
          onChange(removeEdge(flow, index));
        }}
      >
        Delete this connection
      </button>
    </div>
  );
}

function HandleField({ flow, edge, index, components, onChange }: EdgePanelProps) {
  const node = flow.nodes.find(({ id }) => id === edge.source);
  if (!node) return null;
  const edges = edgesOf(flow).filter(({ source }) => source === edge.source);
  const handles = handlesOf({ node, component: components.get(node.type), edges });
  if (handles.length < 2) return null;
  return (
    <Field label="Taken when the step ends on">
      <select
        value={edge.sourceHandle ?? plainHandle}
        onChange={({ target }) => {
          const sourceHandle = target.value === plainHandle ? undefined : target.value;
          onChange(changeEdge(flow, index, { sourceHandle }));
        }}
      >
        {handles.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  );
}
