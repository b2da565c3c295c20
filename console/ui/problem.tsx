import type { ReactNode } from 'react';
import { Refusal } from '../api/refusal.ts';

export interface ProblemProps {
  readonly error: Error;
  readonly onRetry?: () => void;
}

/** What went wrong, in the service's words. */
export function Problem({ error, onRetry }: ProblemProps): ReactNode {
  const code = error instanceof Refusal && error.code ? ` (${error.code})` : '';
  return (
    <div className="problem" role="alert">
      <span>
        {error.message}
        {code}
      </span>
      {onRetry ? (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}
