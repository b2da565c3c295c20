import type { ReactNode } from 'react';
import type { FormDraft, SchemaField } from './schema-fields.ts';
import './schema-form.css';

export interface SchemaFormProps {
  readonly fields: readonly SchemaField[];
  readonly draft: FormDraft;
  /** What cannot be read, by the name of the field. */
  readonly flaws: Readonly<Record<string, string>>;
  readonly onChange: (draft: FormDraft) => void;
}

/** The fields of a JSON schema, to be filled in; `schema-fields.ts` knows them and reads what was filled in. */
export function SchemaForm({ fields, draft, flaws, onChange }: SchemaFormProps): ReactNode {
  return fields.map((field) => (
    <SchemaEntry
      key={field.name}
      field={field}
      entry={draft[field.name]}
      flaw={flaws[field.name]}
      onChange={(entry) => onChange(withEntry(draft, field.name, entry))}
    />
  ));
}

type Entry = string | boolean | undefined;

function withEntry(draft: FormDraft, name: string, entry: Entry): FormDraft {
  const { [name]: _before, ...others } = draft;
  return entry === undefined ? others : { ...others, [name]: entry };
}

interface SchemaEntryProps {
  readonly field: SchemaField;
  readonly entry: Entry;
  readonly flaw: string | undefined;
  readonly onChange: (entry: Entry) => void;
}

function SchemaEntry({ field, entry, flaw, onChange }: SchemaEntryProps): ReactNode {
  const { name, kind, isRequired, description, limits } = field;
  const hint = [description, limits].filter(Boolean).join('; ');
  return (
    <label className="field">
      <span className="field-label">
        <code>{name}</code>
        {isRequired ? <span className="schema-needed"> needed</span> : null}
      </span>
      {kind === 'boolean' ? (
        <span>
          <input
            type="checkbox"
            checked={entry === true}
            onChange={({ target }) => onChange(target.checked)}
          />
        </span>
      ) : (
        <Control field={field} entry={entry} onChange={onChange} isFlawed={flaw !== undefined} />
      )}
      {hint ? <span className="faint">{hint}</span> : null}
      {flaw ? (
        <span className="schema-flaw" role="alert">
          {flaw}
        </span>
      ) : null}
    </label>
  );
}

interface ControlProps extends Pick<SchemaEntryProps, 'field' | 'entry' | 'onChange'> {
  readonly isFlawed: boolean;
}

function Control({ field, entry, onChange, isFlawed }: ControlProps): ReactNode {
  const value = typeof entry === 'string' ? entry : '';
  const common = {
    value,
    'aria-invalid': isFlawed,
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(target.value === '' ? undefined : target.value),
  };
  if (field.kind === 'choice') {
    return (
      <select {...common}>
        <option value="">none</option>
        {field.choices.map((choice) => {
          const written = JSON.stringify(choice);
          return (
            <option key={written} value={written}>
              {typeof choice === 'string' ? choice : written}
            </option>
          );
        })}
      </select>
    );
  }
  if (field.kind === 'number') return <input {...common} inputMode="decimal" />;
  return (
    <textarea
      {...common}
      rows={field.kind === 'json' ? 3 : 1}
      className={field.kind === 'json' ? 'mono' : 'schema-text'}
    />
  );
}
