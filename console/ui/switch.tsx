import type { ReactNode } from 'react';

export interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  /** While a change of it is under way. */
  readonly isDisabled?: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** What is on or off, and takes effect at once. */
export function Switch({ label, isOn, isDisabled, onChange }: SwitchProps): ReactNode {
  return (
    <label>
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.checked)}
      />{' '}
      {label}
    </label>
  );
}
