import type { ReactNode } from 'react';
import './facts.css';

/** A name and what it is; facts without a value are left out. */
export type Fact = readonly [name: string, value: ReactNode];

/** What is known of one thing, as a list of names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
