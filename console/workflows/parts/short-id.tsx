import type { ReactNode } from 'react';

const shownDigits = 8;

/** The end of an id, by which ids can be told apart: they begin with the time. */
export function ShortId({ id }: { readonly id: string }): ReactNode {
  return <code title={id}>…{id.slice(-shownDigits)}</code>;
}
