import type { ReactNode } from 'react';

/** A value as indented JSON; a text as it is. */
export function JsonView({ value }: { readonly value: unknown }): ReactNode {
  return (
    <pre className="json">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
  );
}
