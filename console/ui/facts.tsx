import type { ReactNode } from 'react';

/** A name and what it is; facts without a value are left out. */
export type Fact = readonly [name: string, value: ReactNode];

const absent = new Set<ReactNode>([undefined, null, false, '']);

/** What is known of one thing, as a list of names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => !absent.has(value))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
