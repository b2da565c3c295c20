import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../api/call.ts';
import { ChangeForm } from '../ui/change-form.tsx';
import { saveFile } from '../ui/download.ts';
import { Field } from '../ui/field.tsx';
import { ModalButton } from '../ui/modal-button.tsx';

const forms = {
  claude: { title: 'Claude', file: '.mcp.json' },
  vscode: { title: 'VS Code', file: 'mcp.json' },
  cursor: { title: 'Cursor', file: 'mcp.json' },
  ennead: { title: 'another registry of Ennead', file: 'connections.json' },
} as const;
type Form = keyof typeof forms;

/** Has the connections saved as the file of a client. */
export function ExportButton(): ReactNode {
  return (
    <ModalButton label="Export" title="Export the connections">
      {(close) => <Choice onClose={close} />}
    </ModalButton>
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
    <ChangeForm
      change={download}
      action={`Download ${forms[form].file}`}
      onSubmit={() => download.mutate()}
      onCancel={onClose}
    >
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
    </ChangeForm>
  );
}
