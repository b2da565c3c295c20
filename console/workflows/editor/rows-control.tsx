import { Fragment, type ReactNode } from 'react';
import { isRecord, type Control, type JsonSchema } from '../flow/settings.ts';

/** One field of a row. */
export interface RowField {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly onChange: (value: unknown) => void;
}

export interface RowsControlProps {
  readonly id: string;
  /** Of the list. */
  readonly name: string;
  readonly control: Extract<Control, { kind: 'rows' }>;
  readonly value: unknown;
  readonly renderField: (field: RowField) => ReactNode;
  readonly onChange: (value: unknown) => void;
}

/** A list of things that have fields of their own, such as the cases of a Switch. */
export function RowsControl({
  id,
  name: listName,
  control,
  value,
  renderField,
  onChange,
}: RowsControlProps): ReactNode {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const change = (next: readonly unknown[]) => onChange(next.length > 0 ? next : undefined);
  return (
    <div className="workflow-rows">
      {items.map((item, at) => (
        // Rows have no names: their place is what they are known by.
        // oxlint-disable-next-line react/no-array-index-key
        <fieldset key={at}>
          <legend>{at + 1}</legend>
          {Object.entries(control.fields).map(([name, schema]) => (
            <Fragment key={name}>
              {renderField({
                name,
                schema,
                value: isRecord(item) ? item[name] : undefined,
                isRequired: control.required.includes(name),
                onChange: (field) => change(items.with(at, setField(item, name, field))),
              })}
            </Fragment>
          ))}
          <button
            type="button"
            className="quiet"
            onClick={() => change(items.filter((_, other) => other !== at))}
          >
            Remove {at + 1}
          </button>
        </fieldset>
      ))}
      <button
        id={id}
        type="button"
        aria-label={`Add to ${listName}`}
        onClick={() => change([...items, {}])}
      >
        Add
      </button>
    </div>
  );
}

function setField(item: unknown, name: string, value: unknown): Record<string, unknown> {
  const fields = Object.entries({ ...(isRecord(item) ? item : {}), [name]: value });
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
