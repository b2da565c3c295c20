import { Fragment, type ReactNode } from 'react';

/** The service's own words, in which backticks mark what is code. */
export function Prose({ text }: { readonly text: string }): ReactNode {
  return text.split('`').map((part, at) => {
    const key = `${at} ${part}`;
    return at % 2 === 1 ? <code key={key}>{part}</code> : <Fragment key={key}>{part}</Fragment>;
  });
}
