import { useId, useRef, useState, type ReactNode, type Ref } from 'react';
import type { Reference } from '../flow/placeholders.ts';
import { readTyped, writeTyped, type Control } from '../flow/settings.ts';
import { ReferenceMenu } from './reference-menu.tsx';
import type { Suggestion } from './suggestions.ts';

export interface TextControlProps {
  readonly id: string;
  /** Of the setting. */
  readonly name: string;
  readonly control: Control;
  readonly value: unknown;
  readonly references: readonly Reference[];
  readonly suggestions: readonly Suggestion[];
  readonly onChange: (value: unknown) => void;
}

const rows: Readonly<Record<string, number>> = { text: 5, code: 3, json: 4, lines: 3 };

/** A value as text. What is typed is kept while it is no value yet. */
export function TextControl(props: TextControlProps): ReactNode {
  const { id, name, control, value, references, suggestions, onChange } = props;
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>();
  const text = typed && typed.value === value ? typed.text : writeTyped(control, value);
  const read = readTyped(control, text);
  const type = (next: string) => {
    const meant = readTyped(control, next);
    if ('flaw' in meant) return setTyped({ text: next, value });
    setTyped({ text: next, value: meant.value });
    onChange(meant.value);
  };
  const insert = (reference: string) => {
    const at = field.current?.selectionEnd ?? text.length;
    type(`${text.slice(0, at)}${reference}${text.slice(at)}`);
    field.current?.focus();
  };
  return (
    <>
      <Box
        {...{ id, control, suggestions }}
        field={{ ref: field, value: text, onChange: ({ target }) => type(target.value) }}
      />
      {'flaw' in read ? <span className="workflow-fault">{read.flaw}</span> : null}
      {control.kind === 'secret' ? null : (
        <ReferenceMenu
          label={`Insert into ${name}`}
          references={references}
          isCode={control.kind === 'code'}
          onInsert={insert}
        />
      )}
    </>
  );
}

interface BoxProps extends Pick<TextControlProps, 'id' | 'control' | 'suggestions'> {
  readonly field: {
    readonly ref: Ref<HTMLInputElement & HTMLTextAreaElement>;
    readonly value: string;
    readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
  };
}

/** A line, several lines, or a password's dots. */
function Box({ id, control: { kind }, suggestions, field }: BoxProps) {
  const listId = useId();
  const lines = rows[kind];
  if (kind === 'secret') {
    return <input {...field} id={id} type="password" autoComplete="new-password" />;
  }
  if (lines !== undefined) {
    const isCode = kind === 'code' || kind === 'json';
    return (
      <textarea
        {...field}
        id={id}
        className={isCode ? 'mono' : undefined}
        rows={lines}
        placeholder={kind === 'lines' ? 'one a line' : undefined}
      />
    );
  }
  return (
    <>
      <input {...field} id={id} list={suggestions.length > 0 ? listId : undefined} />
      {suggestions.length > 0 ? (
        <datalist id={listId}>
          {suggestions.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </datalist>
      ) : null}
    </>
  );
}
