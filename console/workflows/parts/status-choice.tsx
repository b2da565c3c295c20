import type { ReactNode } from 'react';

export interface StatusChoiceProps<Status extends string> {
  readonly statuses: readonly Status[];
  /** Undefined: any. */
  readonly chosen: Status | undefined;
  readonly onChoose: (status: Status | undefined) => void;
  /** What the choice of any says. */
  readonly any?: string;
}

/** Narrows a list to one status. */
export function StatusChoice<Status extends string>(props: StatusChoiceProps<Status>): ReactNode {
  const { statuses, chosen, onChoose, any = 'any status' } = props;
  return (
    <select
      aria-label="Status"
      value={chosen ?? ''}
      onChange={({ target }) => onChoose(statuses.find((one) => one === target.value))}
    >
      <option value="">{any}</option>
      {statuses.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}
