import type { ReactNode } from 'react';
import { Answered, type AnsweredProps } from '../../ui/answered.tsx';

/** As `Answered`, but what was answered once stays though asking again fails: what is drawn must not go. */
export function Kept<T>({ query, children }: AnsweredProps<T>): ReactNode {
  const { data } = query;
  return data === undefined ? <Answered query={query}>{children}</Answered> : children(data);
}
