import type { ReactNode } from 'react';
import type { ChangeState } from './change-form.tsx';
import { Problem } from './problem.tsx';

export interface DecisionProps {
  /** The answer that is being given. */
  readonly change: ChangeState;
  /** What the button says that refuses. */
  readonly refusal: string;
  readonly onDecide: (isApproved: boolean) => void;
}

/** A person's yes or no to something that waits for it. */
export function Decision({ change, refusal, onDecide }: DecisionProps): ReactNode {
  return (
    <div className="stack">
      {change.error ? <Problem error={change.error} /> : null}
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={change.isPending}
          onClick={() => onDecide(true)}
        >
          Approve
        </button>
        <button
          type="button"
          className="danger"
          disabled={change.isPending}
          onClick={() => onDecide(false)}
        >
          {refusal}
        </button>
      </div>
    </div>
  );
}
