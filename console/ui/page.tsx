import type { ReactNode } from 'react';
import { Heading } from './heading.tsx';

export interface PageProps {
  readonly title: ReactNode;
  /** Buttons and filters beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page of an area: its title, what can be done, and its content. */
export function Page({ title, actions, children }: PageProps): ReactNode {
  return (
    <div className="page">
      <header className="page-head">
        <Heading>{title}</Heading>
        <div className="actions">{actions}</div>
      </header>
      {children}
    </div>
  );
}
