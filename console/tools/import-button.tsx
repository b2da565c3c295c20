import { useState, type FormEvent, type ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import { Field } from '../ui/field.tsx';
import { Modal } from '../ui/modal.tsx';
import { Problem } from '../ui/problem.tsx';
import { ImportReport } from './import-report.tsx';
import { neededBy } from './import-needs.ts';

/** Takes the connections in that a configuration file lists. */
export function ImportButton(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Import
      </button>
      {isOpen ? (
        <Modal title="Import connections" onClose={() => setOpen(false)}>
          <Form onClose={() => setOpen(false)} />
        </Modal>
      ) : null}
    </>
  );
}

function Form({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [document, setDocument] = useState('');
  const [prefix, setPrefix] = useState('');
  const [isTrial, setTrial] = useState(false);
  const [inputs, setInputs] = useState<Readonly<Record<string, string>>>({});
  const taking = useChange('registry', 'POST /registry/import');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    taking.mutate({
      body: { document, dryRun: isTrial, inputs: { ...inputs }, ...(prefix ? { prefix } : {}) },
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Source text={document} onChange={setDocument} />
      <Field label="Put before every name">
        <input value={prefix} onChange={({ target }) => setPrefix(target.value)} />
      </Field>
      {taking.data ? (
        <Needs
          names={[...new Set([...Object.keys(inputs), ...neededBy(taking.data)])]}
          inputs={inputs}
          onChange={setInputs}
        />
      ) : null}
      <label className="row">
        <input
          type="checkbox"
          checked={isTrial}
          onChange={({ target }) => setTrial(target.checked)}
        />
        Only say what would be imported
      </label>
      {taking.error ? <Problem error={taking.error} /> : null}
      {taking.data ? <ImportReport report={taking.data} /> : null}
      <div className="row">
        <button type="submit" className="primary" disabled={taking.isPending}>
          {isTrial ? 'Try' : 'Import'}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  );
}

function Source({
  text,
  onChange,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <>
      <Field
        label="File"
        hint="mcp.json of Claude, Cursor or VS Code, server.json, or our own export"
      >
        <input
          type="file"
          accept=".json,.jsonc,application/json"
          onChange={({ target }) => void target.files?.[0]?.text().then(onChange)}
        />
      </Field>
      <Field label="or its text">
        <textarea
          required
          rows={8}
          className="mono"
          placeholder={'{"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}'}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
    </>
  );
}

interface NeedsProps {
  readonly names: readonly string[];
  readonly inputs: Readonly<Record<string, string>>;
  readonly onChange: (inputs: Readonly<Record<string, string>>) => void;
}

/** Values that the file leaves to whoever imports it. */
function Needs({ names, inputs, onChange }: NeedsProps): ReactNode {
  return names.map((name) => (
    <Field key={name} label={name} hint="the file asks for it">
      <input
        value={inputs[name] ?? ''}
        onChange={({ target }) => onChange({ ...inputs, [name]: target.value })}
      />
    </Field>
  ));
}
