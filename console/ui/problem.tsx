import type { ReactNode } from 'react';

export interface ProblemProps {
  /** An error, or a failure that a service tells of something. */
  readonly error: { readonly message: string; readonly code?: unknown };
  readonly onRetry?: () => void;
}

/** What went wrong, in the service's words. */
export function Problem({ error: { message, code }, onRetry }: ProblemProps): ReactNode {
  return (
    <div className="problem" role="alert">
      <span>
        {message}
        {typeof code === 'string' && code !== '' && code !== message ? ` (${code})` : ''}
      </span>
      {onRetry ? (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}
