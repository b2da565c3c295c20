import { useState, type ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { Field } from '../ui/field.tsx';
import { ModalButton } from '../ui/modal-button.tsx';
import { ImportReport } from './import-report.tsx';
import { neededBy } from './import-needs.ts';

/** Takes the connections in that a configuration file lists. */
export function ImportButton(): ReactNode {
  return (
    <Permitted needs="registry:write">
      <ModalButton label="Import" title="Import connections">
        {(close) => <Form onClose={close} />}
      </ModalButton>
    </Permitted>
  );
}

function Form({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [document, setDocument] = useState('');
  const [prefix, setPrefix] = useState('');
  const [isTrial, setTrial] = useState(false);
  const [inputs, setInputs] = useState<Readonly<Record<string, string>>>({});
  const taking = useChange('registry', 'POST /registry/import');
  const take = () =>
    taking.mutate({
      body: { document, dryRun: isTrial, inputs: { ...inputs }, ...(prefix ? { prefix } : {}) },
    });
  return (
    <ChangeForm
      change={taking}
      action={isTrial ? 'Try' : 'Import'}
      onSubmit={take}
      onCancel={onClose}
      cancelText="Close"
    >
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
      {taking.data ? <ImportReport report={taking.data} /> : null}
    </ChangeForm>
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
