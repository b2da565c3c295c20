import type { ReactNode } from 'react';
import { reasonOf } from './permissions.ts';
import { useIsAllowed } from './person.ts';

export interface PermittedProps {
  /** A permission, as `auth:admin`, or several of which one is enough. */
  readonly needs: string | readonly string[];
  readonly children: ReactNode;
}

/** Buttons and fields that take a permission: who does not hold it sees them off, with the reason. */
export function Permitted({ needs, children }: PermittedProps): ReactNode {
  const isAllowed = useIsAllowed(needs);
  if (isAllowed) return children;
  const reason = reasonOf(needs);
  return (
    <fieldset className="permitted" disabled title={reason} aria-label={reason}>
      {children}
    </fieldset>
  );
}
