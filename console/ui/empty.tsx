import type { ReactNode } from 'react';

export interface EmptyProps {
  readonly title: string;
  /** What to do about it. */
  readonly children?: ReactNode;
}

/** Stands where there is nothing to show yet. */
export function Empty({ title, children }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
