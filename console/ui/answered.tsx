import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from './problem.tsx';

export interface AnsweredProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (answer: T) => ReactNode;
}

/** Shows an answer once it is there; until then that it is coming, and where it fails, why. */
export function Answered<T>({ query, children }: AnsweredProps<T>): ReactNode {
  const { data, error, refetch } = query;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <p className="faint">Loading …</p>;
  return children(data);
}
