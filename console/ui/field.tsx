import type { ReactNode } from 'react';

export interface FieldProps {
  readonly label: string;
  /** What the field is for, where its name does not say it. */
  readonly hint?: string | undefined;
  readonly children: ReactNode;
}

/** A labelled control. */
export function Field({ label, hint, children }: FieldProps): ReactNode {
  return (
    <div className="field">
      <label className="field">
        <span className="field-label">{label}</span>
        {children}
      </label>
      {hint ? <span className="faint">{hint}</span> : null}
    </div>
  );
}
