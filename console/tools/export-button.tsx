import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../api/call.ts';
import { saveFile } from '../ui/download.ts';
import { Field } from '../ui/field.tsx';
import { Modal } from '../ui/modal.tsx';
import { Problem } from '../ui/problem.tsx';

const forms = {
  claude: { title: 'Claude', file: '.mcp.json' },
  vscode: { title: 'VS Code', file: 'mcp.json' },
  cursor: { title: 'Cursor', file: 'mcp.json' },
  ennead: { title: 'another registry of Ennead', file: 'connections.json' },
} as const;
type Form = keyof typeof forms;

/** Has the connections saved as the file of a client. */
export function ExportButton(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Export
      </button>
      {isOpen ? (
        <Modal title="Export the connections" onClose={() => setOpen(false)}>
          <Choice onClose={() => setOpen(false)} />
        </Modal>
      ) : null}
    </>
  );
}

function Choice({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [form, setForm] = useState<Form>('claude');
  const [isThroughRegistry, setThroughRegistry] = useState(false);
  const download = useMutation({
    mutationFn: async () => {
      const via = isThroughRegistry && form !== 'ennead' ? ({ via: 'registry' } as const) : {};
      const query = { format: form, ...via };
      saveFile(
        forms[form].file,
        JSON.stringify(await call('registry', 'GET /registry/export', { query }), null, 2),
      );
    },
    onSuccess: onClose,
  });
  return (
    <div className="stack">
      <Field label="For" hint="secrets are left out: their places are named">
        <select value={form} onChange={({ target }) => setForm(target.value as Form)}>
          {Object.entries(forms).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      {form === 'ennead' ? null : (
        <label className="row">
          <input
            type="checkbox"
            checked={isThroughRegistry}
            onChange={({ target }) => setThroughRegistry(target.checked)}
          />
          One server that stands for all: this registry
        </label>
      )}
      {download.error ? <Problem error={download.error} /> : null}
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={download.isPending}
          onClick={() => download.mutate()}
        >
          Download {forms[form].file}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
