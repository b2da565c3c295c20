import { useState, type ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { Empty } from '../ui/empty.tsx';
import { JsonView } from '../ui/json-view.tsx';
import type { Connection } from './answers.ts';
import { ToolTrial } from './tool-trial.tsx';

type Capability = Connection['capabilities'][number];

/** What a server offers, and the place to try one of it. */
export function ToolBench({ connection }: { readonly connection: Connection }): ReactNode {
  const { capabilities } = connection;
  const [address, setAddress] = useSearchParams();
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const shown = capabilities.filter(({ name, description = '' }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  const chosen = capabilities.find(({ name }) => name === address.get('tool'));
  if (capabilities.length === 0) return <NoTools />;
  return (
    <section className="stack" aria-label="Tools">
      <h2>Tools</h2>
      <div className="bench">
        <div className="card stack">
          <input
            type="search"
            aria-label="Search tools"
            placeholder={`Search ${capabilities.length} tools`}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <ul className="plain bench-list">
            {shown.map(({ name, description }) => (
              <li key={name}>
                <button
                  type="button"
                  className="bench-tool"
                  aria-pressed={name === chosen?.name}
                  onClick={() => setAddress({ tool: name }, { replace: true })}
                >
                  <strong>{name}</strong>
                  {description ? <span className="faint">{description}</span> : null}
                </button>
              </li>
            ))}
          </ul>
          {shown.length === 0 ? <p className="faint flat">No tool has this in it.</p> : null}
        </div>
        {chosen ? (
          <Tool key={chosen.name} connection={connection} tool={chosen} />
        ) : (
          <Empty title="No tool is chosen">Choose one to see its schema and to try it.</Empty>
        )}
      </div>
    </section>
  );
}

function NoTools(): ReactNode {
  return (
    <section className="card" aria-label="Tools">
      <h2>Tools</h2>
      <p className="faint flat">
        None are known: the server has not answered yet, or it offers none. A check tells which.
      </p>
    </section>
  );
}

interface ToolProps {
  readonly connection: Connection;
  readonly tool: Capability;
}

function Tool({ connection, tool: { name, description, schema } }: ToolProps): ReactNode {
  const isHeld = connection.quarantined.includes(name);
  const isTold = connection.pins?.tools[name] !== undefined;
  return (
    <article className="card stack" aria-label={name}>
      <h3>{name}</h3>
      {description ? <p className="flat wrapped">{description}</p> : null}
      {isTold || !connection.pins ? null : (
        <p className="faint flat">Declared at its registration; the server names no such tool.</p>
      )}
      {isHeld ? (
        <p className="bad-text flat">It has changed, and is not called until it is accepted.</p>
      ) : null}
      <details>
        <summary>Schema</summary>
        <JsonView value={schema ?? 'none'} />
      </details>
      <ToolTrial connectionId={connection.id} tool={name} schema={schema} />
    </article>
  );
}
