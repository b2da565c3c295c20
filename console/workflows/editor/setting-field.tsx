import { useId, type ReactNode } from 'react';
import type { FlowFault } from '../flow/flow.ts';
import type { Reference } from '../flow/placeholders.ts';
import { controlOf, isPlaceholder, type Control, type JsonSchema } from '../flow/settings.ts';
import { Prose } from '../parts/prose.tsx';
import { ChoiceControl } from './choice-control.tsx';
import { RowsControl } from './rows-control.tsx';
import type { Suggestion } from './suggestions.ts';
import { TextControl } from './text-control.tsx';

export interface SettingFieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly references: readonly Reference[];
  readonly faults: readonly FlowFault[];
  readonly suggestions?: readonly Suggestion[];
  /** Undefined takes the setting away. */
  readonly onChange: (value: unknown) => void;
}

/** One setting of a step, entered as its schema asks for. */
export function SettingField(props: SettingFieldProps): ReactNode {
  const { name, schema, value, isRequired, faults } = props;
  const control = controlOf(schema);
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {name}
        {isRequired ? <span className="faint"> (needed)</span> : null}
      </label>
      <ControlFor {...props} id={id} control={control} />
      {faults.map(({ message }) => (
        <span key={message} className="workflow-fault">
          {message}
        </span>
      ))}
      <span className="faint">
        <Prose text={hintOf(schema, value)} />
      </span>
    </div>
  );
}

function hintOf({ description, default: fallback }: JsonSchema, value: unknown): string {
  const told = typeof description === 'string' ? description : '';
  if (fallback === undefined || value !== undefined) return told;
  return `${told}${told ? '; ' : ''}${JSON.stringify(fallback)} unless told`;
}

interface ControlProps extends SettingFieldProps {
  readonly id: string;
  readonly control: Control;
}

function ControlFor(props: ControlProps) {
  const { id, name, control, value, references, suggestions = [], onChange } = props;
  const isWritten = isPlaceholder(value);
  if (control.kind === 'rows' && !isWritten) {
    return (
      <RowsControl
        {...{ id, name, control, value, onChange }}
        renderField={(field) => <SettingField {...field} references={references} faults={[]} />}
      />
    );
  }
  if ((control.kind === 'choice' || control.kind === 'switch') && !isWritten) {
    const options = control.kind === 'choice' ? control.options : [true, false];
    return <ChoiceControl {...{ id, options, value, onChange }} />;
  }
  return <TextControl {...{ id, name, control, value, references, suggestions, onChange }} />;
}
