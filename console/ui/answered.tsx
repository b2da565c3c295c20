import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Refusal } from '../api/refusal.ts';
import { Page } from './page.tsx';
import { Problem } from './problem.tsx';

export interface AnsweredProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error'> & {
    readonly refetch: () => Promise<unknown>;
  };
  /** Heads the page until the answer is there, which then says its own. */
  readonly title?: ReactNode;
  readonly children: (answer: T) => ReactNode;
}

/**
 * Shows an answer once it is there; until then that it is coming, and where it fails, why. What was shown
 * stays when a later reading fails, so that nobody loses what they were typing.
 */
export function Answered<T>({ query, title, children }: AnsweredProps<T>): ReactNode {
  const { data, error, refetch } = query;
  const problem = error ? <Problem error={error} {...wayOn(error, refetch)} /> : null;
  if (data !== undefined) {
    return (
      <>
        {problem}
        {children(data)}
      </>
    );
  }
  const wait = problem ?? <p className="faint">Loading …</p>;
  return title === undefined ? wait : <Page title={title}>{wait}</Page>;
}

/** Asking again does not help where the question is no good, a permission is missing, nor what is asked for. */
function wayOn(error: Error, refetch: () => Promise<unknown>): { onRetry?: () => void } {
  if (error instanceof Refusal && [400, 403, 404].includes(error.status)) return {};
  return { onRetry: () => void refetch() };
}
