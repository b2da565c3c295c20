import { useState, type ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { changeNode, changeSetting, copyNode, removeNode, renameNode } from '../flow/edits.ts';
import {
  settingsOf,
  type Component,
  type Components,
  type Flow,
  type FlowFault,
  type FlowNode,
} from '../flow/flow.ts';
import { referencesFor } from '../flow/placeholders.ts';
import { Prose } from '../parts/prose.tsx';
import { Connections } from './connections.tsx';
import { nothingSelected, selectNode, type Selection } from './selection.ts';
import { SettingField, type SettingFieldProps } from './setting-field.tsx';
import { StepOptions } from './step-options.tsx';
import { useSuggestions } from './suggestions.ts';

export interface NodePanelProps {
  readonly flow: Flow;
  readonly node: FlowNode;
  readonly components: Components;
  readonly faults: readonly FlowFault[];
  readonly onChange: (flow: Flow, topic?: string) => void;
  readonly onSelect: (selection: Selection) => void;
}

/** The settings of a step. */
export function NodePanel(props: NodePanelProps): ReactNode {
  const { flow, node, components, faults, onChange, onSelect } = props;
  const component = components.get(node.type);
  const remove = () => {
    onSelect(nothingSelected);
    onChange(removeNode(flow, node.id));
  };
  const copy = () => {
    const copied = copyNode(flow, node);
    onSelect(selectNode(copied.id));
    onChange(copied.flow);
  };
  return (
    <div className="stack">
      <h2>{component?.title ?? node.type}</h2>
      {component ? (
        <p className="faint workflow-flat">
          <Prose text={component.description} />
        </p>
      ) : null}
      {faults.some(({ path }) => !path) ? (
        <ul className="workflow-faults">
          {faults
            .filter(({ path }) => !path)
            .map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
        </ul>
      ) : null}
      <Field label="Label">
        <input
          value={node.label ?? ''}
          maxLength={200}
          onChange={({ target }) =>
            onChange(
              changeNode(flow, node.id, { label: target.value || undefined }),
              `label ${node.id}`,
            )
          }
        />
      </Field>
      <IdField {...{ flow, node, onChange, onSelect }} />
      {component ? <SettingFields {...props} component={component} /> : null}
      <StepOptions {...{ flow, node, component, onChange }} />
      <Connections {...{ flow, node, components, onChange, onSelect }} />
      <div className="row">
        <button type="button" onClick={copy}>
          Duplicate
        </button>
        <button type="button" className="danger" onClick={remove}>
          Delete
        </button>
      </div>
    </div>
  );
}

type IdFieldProps = Pick<NodePanelProps, 'flow' | 'node' | 'onChange' | 'onSelect'>;

/** Renames once the field is left: half an id would break what names it. */
function IdField({ flow, node: { id }, onChange, onSelect }: IdFieldProps) {
  const [text, setText] = useState(id);
  const isTaken = text !== id && flow.nodes.some((other) => other.id === text);
  const rename = () => {
    if (text === id) return;
    if (isTaken || text === '') return setText(id);
    onSelect(selectNode(text));
    onChange(renameNode(flow, id, text));
  };
  return (
    <Field
      label="Id"
      hint={isTaken ? 'Another step has this id.' : 'By which placeholders name it.'}
    >
      <input
        className="mono"
        value={text}
        maxLength={64}
        onChange={({ target }) => setText(target.value)}
        onBlur={rename}
        onKeyDown={({ key }) => key === 'Enter' && rename()}
      />
    </Field>
  );
}

function SettingFields({
  flow,
  node,
  components,
  faults,
  component,
  onChange,
}: NodePanelProps & { readonly component: Component }) {
  const settings = settingsOf(node);
  const references = referencesFor(flow, node.id, components);
  const [example] = component.examples;
  return (
    <>
      {Object.entries(component.inputs).map(([name, schema]) => (
        <SuggestedField
          component={component.name}
          key={name}
          {...{ name, schema: { ...schema }, references }}
          value={settings[name]}
          isRequired={component.required.includes(name)}
          faults={faults.filter(({ path = '' }) => path.split('/')[1] === name)}
          onChange={(value) =>
            onChange(changeSetting(flow, node.id, { name, value }), `setting ${node.id} ${name}`)
          }
        />
      ))}
      {Object.keys(settings).length === 0 && example && Object.keys(example).length > 0 ? (
        <button
          type="button"
          className="workflow-start"
          onClick={() => onChange(changeNode(flow, node.id, { data: example }))}
        >
          Fill in an example
        </button>
      ) : null}
    </>
  );
}

/** A setting with the names that it may be set to. */
function SuggestedField({
  component,
  ...field
}: SettingFieldProps & { readonly component: string }) {
  return <SettingField {...field} suggestions={useSuggestions(component, field.name)} />;
}
