import { useState, type ReactNode } from 'react';
import { useAnswer } from '../api/answers.ts';
import { Answered } from '../ui/answered.tsx';
import { Empty } from '../ui/empty.tsx';
import { isPicked, togglePick, type ToolPick } from './virtual-server-draft.ts';

export interface ToolPickerProps {
  readonly picks: readonly ToolPick[];
  readonly onChange: (picks: readonly ToolPick[]) => void;
}

/** Tools of all servers on one side, what is picked of them on the other. */
export function ToolPicker({ picks, onChange }: ToolPickerProps): ReactNode {
  return (
    <div className="columns">
      <Offered picks={picks} onChange={onChange} />
      <section className="card stack">
        <h2>Picked</h2>
        <Picked picks={picks} onChange={onChange} />
      </section>
    </div>
  );
}

function Offered({ picks, onChange }: ToolPickerProps): ReactNode {
  const [search, setSearch] = useState('');
  const connections = useAnswer('registry', 'GET /connections', { query: { type: 'server' } });
  const wanted = search.trim().toLowerCase();
  return (
    <section className="card stack">
      <h2>Offered</h2>
      <input
        type="search"
        aria-label="Search tools"
        placeholder="Search"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <Answered query={connections}>
        {({ connections: known }) => {
          const shown = known
            .filter(({ status }) => status !== 'disconnected')
            .map(({ name, capabilities }) => ({
              server: name,
              tools: capabilities.filter((tool) =>
                `${name} ${tool}`.toLowerCase().includes(wanted),
              ),
            }))
            .filter(({ tools }) => tools.length > 0);
          if (shown.length === 0)
            return <p className="faint flat">No server offers such a tool.</p>;
          return (
            <div className="offered">
              {shown.map((offer) => (
                <ServerTools key={offer.server} {...offer} picks={picks} onChange={onChange} />
              ))}
            </div>
          );
        }}
      </Answered>
    </section>
  );
}

interface ServerToolsProps extends ToolPickerProps {
  readonly server: string;
  readonly tools: readonly string[];
}

function ServerTools({ server, tools, picks, onChange }: ServerToolsProps): ReactNode {
  const hasAll = isPicked(picks, { connection: server, tool: '*' });
  const toggle = (tool: string) => onChange(togglePick(picks, { connection: server, tool }));
  return (
    <fieldset className="bare">
      <legend className="field-label">{server}</legend>
      <label className="row">
        <input type="checkbox" checked={hasAll} onChange={() => toggle('*')} />
        all of it, also what comes later
      </label>
      {tools.map((tool) => (
        <label key={tool} className="row">
          <input
            type="checkbox"
            disabled={hasAll}
            checked={isPicked(picks, { connection: server, tool })}
            onChange={() => toggle(tool)}
          />
          {tool}
        </label>
      ))}
    </fieldset>
  );
}

function Picked({ picks, onChange }: ToolPickerProps): ReactNode {
  if (picks.length === 0) return <Empty title="Nothing yet">Pick tools of the servers.</Empty>;
  return (
    <ul className="plain">
      {picks.map((pick) => {
        const name = `${pick.connection}__${pick.tool}`;
        return (
          <li key={name} className="picked">
            <code>{name}</code>
            <input
              aria-label={`Name of ${name} here`}
              placeholder="its name here"
              value={pick.as}
              onChange={({ target }) =>
                onChange(picks.map((one) => (one === pick ? { ...pick, as: target.value } : one)))
              }
            />
            <button
              type="button"
              aria-label={`Remove ${name}`}
              onClick={() => onChange(picks.filter((one) => one !== pick))}
            >
              Remove
            </button>
          </li>
        );
      })}
    </ul>
  );
}
