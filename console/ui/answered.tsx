import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from './problem.tsx';

export interface AnsweredProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error'> & {
    readonly refetch: () => Promise<unknown>;
  };
  readonly children: (answer: T) => ReactNode;
}

/**
 * Shows an answer once it is there; until then that it is coming, and where it fails, why. What was shown
 * stays when a later reading fails, so that nobody loses what they were typing.
 */
export function Answered<T>({ query, children }: AnsweredProps<T>): ReactNode {
  const { data, error, refetch } = query;
  if (data === undefined && !error) return <p className="faint">Loading …</p>;
  return (
    <>
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}
