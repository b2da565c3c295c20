import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';

export interface NumberFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: number | undefined;
  /** `any` takes fractions too. */
  readonly step?: number | 'any';
  /** Undefined when the field was emptied. */
  readonly onChange: (value: number | undefined) => void;
}

/** A labelled number that may be left out. */
export function NumberField({
  label,
  hint,
  value,
  step = 1,
  onChange,
}: NumberFieldProps): ReactNode {
  return (
    <Field label={label} hint={hint}>
      <input
        type="number"
        min={0}
        step={step}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
      />
    </Field>
  );
}
