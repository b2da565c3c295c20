import type { ReactNode } from 'react';
import type { Reference } from '../flow/placeholders.ts';

export interface ReferenceMenuProps {
  readonly label: string;
  readonly references: readonly Reference[];
  /** Conditions and expressions name things without braces. */
  readonly isCode: boolean;
  readonly onInsert: (text: string) => void;
}

/** Offers what a setting may name: outputs of steps before it, inputs, the round of its loop. */
export function ReferenceMenu(props: ReferenceMenuProps): ReactNode {
  const { label, references, isCode, onInsert } = props;
  if (references.length === 0) return null;
  const groups = [...new Set(references.map(({ group }) => group))];
  return (
    <select
      className="workflow-references"
      aria-label={label}
      value=""
      onChange={({ target }) => onInsert(isCode ? target.value : `{{ ${target.value} }}`)}
    >
      <option value="">insert …</option>
      {groups.map((group) => (
        <optgroup key={group} label={group}>
          {references
            .filter((reference) => reference.group === group)
            .map(({ path }) => (
              <option key={path}>{path}</option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
