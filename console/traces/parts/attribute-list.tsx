import type { ReactNode } from 'react';
import { readNested } from '../../ui/entry-text.ts';
import { textOf } from './attribute-text.ts';

export interface AttributeListProps {
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Attributes by name; what is JSON in a text is told as JSON. */
export function AttributeList({ attributes }: AttributeListProps): ReactNode {
  const names = Object.keys(attributes).toSorted();
  if (names.length === 0) return null;
  return (
    <dl className="pairs attributes">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Value value={attributes[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { readonly value: unknown }): ReactNode {
  const inner = typeof value === 'string' ? readNested(value) : value;
  if (typeof inner === 'object' && inner !== null) {
    return <pre>{JSON.stringify(inner, null, 2)}</pre>;
  }
  const text = textOf(value);
  return text.includes('\n') ? <pre>{text}</pre> : <code>{text}</code>;
}
