import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import type { FormPartProps } from './form-part.ts';

/** Keys go in and never come back. */
export function ProviderKeys(props: FormPartProps & { readonly keyCount: number }): ReactNode {
  const { form, onSet, keyCount } = props;
  return (
    <div className="stack">
      <Field
        label="Keys"
        hint={
          keyCount > 0
            ? 'Left empty, what is stored stays; it is never shown. Another address wants them again.'
            : 'One a line; several share the load. They are never shown again.'
        }
      >
        <textarea
          className="secret"
          autoComplete="off"
          spellCheck={false}
          rows={2}
          disabled={form.dropsKeys}
          value={form.keys}
          onChange={({ target }) => onSet({ keys: target.value })}
        />
      </Field>
      {keyCount > 0 ? (
        <label>
          <input
            type="checkbox"
            checked={form.dropsKeys}
            onChange={({ target }) => onSet({ dropsKeys: target.checked, keys: '' })}
          />{' '}
          Drop what is stored
        </label>
      ) : null}
    </div>
  );
}
