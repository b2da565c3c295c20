import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import type { FormPartProps } from './form-part.ts';

const figures = [
  ['priority', 'Priority', 'a lower one is asked first, before any strategy'],
  ['weight', 'Weight', 'its share among providers of the same model'],
  ['requestsPerMinute', 'Requests a minute', 'at most; empty for no limit'],
  ['firstTokenMs', 'First word', 'milliseconds until it must come'],
  ['idleMs', 'Silence', 'milliseconds between two pieces'],
  ['totalMs', 'Whole answer', 'milliseconds'],
] as const;

/** What seldom needs a word: order, limits, deadlines and headers. */
export function ProviderDetails({ form, onSet }: FormPartProps): ReactNode {
  return (
    <details className="stack">
      <summary>Order, limits, deadlines and headers</summary>
      <div className="figures">
        {figures.map(([name, label, hint]) => (
          <Field key={name} label={label} hint={hint}>
            <input
              type="number"
              step="any"
              value={form[name]}
              onChange={({ target }) => onSet({ [name]: target.value })}
            />
          </Field>
        ))}
      </div>
      <Field label="Headers" hint="name: value, one a line; *** keeps the value that is stored">
        <textarea
          spellCheck={false}
          value={form.headers}
          onChange={({ target }) => onSet({ headers: target.value })}
        />
      </Field>
    </details>
  );
}
