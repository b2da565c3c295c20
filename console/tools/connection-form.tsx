import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import { ModalButton } from '../ui/modal-button.tsx';
import { connectionOf, type ConnectionDraft, type Protocol } from './connection-draft.ts';

/** The way to register an MCP server; it goes on to the server's page. */
export function ConnectionForm(): ReactNode {
  return (
    <Permitted needs="registry:write">
      <ModalButton label="Register a server" title="Register an MCP server" look="primary">
        {(close) => <Form onCancel={close} />}
      </ModalButton>
    </Permitted>
  );
}

const empty: ConnectionDraft = {
  name: '',
  protocol: 'stdio',
  command: '',
  args: '',
  env: '',
  url: '',
  headers: '',
  capabilities: '',
  interval: '',
};

function Form({ onCancel }: { readonly onCancel: () => void }): ReactNode {
  const [draft, setDraft] = useState(empty);
  const [, navigate] = useLocation();
  const registration = useChange('registry', 'POST /connections');
  const register = () =>
    registration.mutate(() => ({ body: connectionOf(draft) }), {
      onSuccess: ({ id }) => navigate(`/${id}`),
    });
  const change = (part: Partial<ConnectionDraft>) => setDraft({ ...draft, ...part });
  return (
    <ChangeForm change={registration} action="Register" onSubmit={register} onCancel={onCancel}>
      <Naming draft={draft} onChange={change} />
      {draft.protocol === 'stdio' ? (
        <Command draft={draft} onChange={change} />
      ) : (
        <Address draft={draft} onChange={change} />
      )}
      <Care draft={draft} onChange={change} />
    </ChangeForm>
  );
}

interface PartProps {
  readonly draft: ConnectionDraft;
  readonly onChange: (part: Partial<ConnectionDraft>) => void;
}

const protocols: Readonly<Record<Protocol, string>> = {
  stdio: 'a command of the registry’s host (stdio)',
  http: 'an address over HTTP (Streamable HTTP)',
  websocket: 'an address over WebSocket',
};

function Naming({ draft: { name, protocol }, onChange }: PartProps): ReactNode {
  return (
    <>
      <Field label="Name" hint="letters, digits and, inside, any of _ . -">
        <input required value={name} onChange={({ target }) => onChange({ name: target.value })} />
      </Field>
      <Field label="It is">
        <select
          value={protocol}
          onChange={({ target }) => onChange({ protocol: target.value as Protocol })}
        >
          {Object.entries(protocols).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

function Command({ draft: { command, args, env }, onChange }: PartProps): ReactNode {
  return (
    <>
      <Field label="Command" hint="it runs only when REGISTRY_STDIO_ALLOW allows it">
        <input
          required
          className="mono"
          placeholder="npx"
          value={command}
          onChange={({ target }) => onChange({ command: target.value })}
        />
      </Field>
      <Field label="Arguments" hint="one on a line">
        <textarea
          className="mono"
          placeholder={'-y\n@modelcontextprotocol/server-filesystem\n/srv/data'}
          value={args}
          onChange={({ target }) => onChange({ args: target.value })}
        />
      </Field>
      <Field label="Variables" hint="NAME=value, one on a line; secrets are kept sealed">
        <textarea
          className="mono"
          value={env}
          onChange={({ target }) => onChange({ env: target.value })}
        />
      </Field>
    </>
  );
}

function Address({ draft: { protocol, url, headers }, onChange }: PartProps): ReactNode {
  const scheme = protocol === 'http' ? 'https' : 'wss';
  return (
    <>
      <Field label="Address">
        <input
          required
          className="mono"
          placeholder={`${scheme}://example.com/mcp`}
          value={url}
          onChange={({ target }) => onChange({ url: target.value })}
        />
      </Field>
      <Field label="Headers" hint="Name: value, one on a line; values are kept sealed">
        <textarea
          className="mono"
          placeholder="Authorization: Bearer …"
          value={headers}
          onChange={({ target }) => onChange({ headers: target.value })}
        />
      </Field>
    </>
  );
}

function Care({ draft: { capabilities, interval }, onChange }: PartProps): ReactNode {
  return (
    <div className="two">
      <Field label="Capabilities" hint="between commas; its tools are added">
        <input
          value={capabilities}
          onChange={({ target }) => onChange({ capabilities: target.value })}
        />
      </Field>
      <Field label="Seconds between checks" hint="30 unless told">
        <input
          type="number"
          min={1}
          max={86_400}
          value={interval}
          onChange={({ target }) => onChange({ interval: target.value })}
        />
      </Field>
    </div>
  );
}
