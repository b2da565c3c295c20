import type { ReactNode } from 'react';

export interface ChoiceControlProps {
  readonly id: string;
  readonly options: readonly (string | boolean)[];
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

const placeholderChoice = 'placeholder …';

/** One of a few values, none, or a placeholder in place of them. */
export function ChoiceControl({ id, options, value, onChange }: ChoiceControlProps): ReactNode {
  return (
    <select
      id={id}
      value={typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''}
      onChange={({ target }) => {
        const isWritten = target.value === placeholderChoice;
        // Becomes a text field, as every value with braces does.
        onChange(isWritten ? '{{ }}' : options.find((option) => String(option) === target.value));
      }}
    >
      <option value="">not set</option>
      {options.map((option) => (
        <option key={String(option)}>{String(option)}</option>
      ))}
      <option>{placeholderChoice}</option>
    </select>
  );
}
