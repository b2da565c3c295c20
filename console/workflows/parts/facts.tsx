import type { ReactNode } from 'react';

/** Names and what stands for them. */
export function Facts({
  facts,
}: {
  readonly facts: Readonly<Record<string, ReactNode>>;
}): ReactNode {
  return (
    <dl className="workflow-facts">
      {Object.entries(facts).map(([name, fact]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
