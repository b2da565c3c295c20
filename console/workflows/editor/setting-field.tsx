import { useId, useState, type ReactNode } from 'react';
import type { FlowFault } from '../flow/flow.ts';
import type { Reference } from '../flow/placeholders.ts';
import {
  controlOf,
  isPlaceholder,
  readTyped,
  writeTyped,
  type Control,
  type JsonSchema,
} from '../flow/settings.ts';
import { Prose } from '../parts/prose.tsx';
import { ChoiceControl } from './choice-control.tsx';
import { ReferenceMenu } from './reference-menu.tsx';
import { RowsControl } from './rows-control.tsx';

export interface SettingFieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly references: readonly Reference[];
  readonly faults: readonly FlowFault[];
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
  const { id, name, control, value, references, onChange } = props;
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
  return <TextControl {...props} />;
}

const rows: Readonly<Record<string, number>> = { text: 5, code: 3, json: 4, lines: 3 };

/** Keeps what is typed while it is no value yet. */
function TextControl({ id, name, control, value, references, onChange }: ControlProps) {
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>();
  const text = typed && typed.value === value ? typed.text : writeTyped(control, value);
  const read = readTyped(control, text);
  const type = (next: string) => {
    const meant = readTyped(control, next);
    if ('flaw' in meant) return setTyped({ text: next, value });
    setTyped({ text: next, value: meant.value });
    onChange(meant.value);
  };
  const field = {
    id,
    value: text,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => type(target.value),
  };
  const lines = rows[control.kind];
  const isCode = control.kind === 'code' || control.kind === 'json';
  if (control.kind === 'secret') {
    return <input {...field} type="password" autoComplete="new-password" />;
  }
  return (
    <>
      {lines === undefined ? (
        <input {...field} />
      ) : (
        <textarea
          {...field}
          className={isCode ? 'mono' : undefined}
          rows={lines}
          placeholder={control.kind === 'lines' ? 'one a line' : undefined}
        />
      )}
      {'flaw' in read ? <span className="workflow-fault">{read.flaw}</span> : null}
      <ReferenceMenu
        label={`Insert into ${name}`}
        references={references}
        isCode={control.kind === 'code'}
        onInsert={(reference) => type(`${text}${reference}`)}
      />
    </>
  );
}
