import { useState, type FormEvent, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Field } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { ImportReport, type Imported } from './import-report.tsx';

/** Takes over a workflow from elsewhere, and says what could not be taken over. */
export function ImportPage(): ReactNode {
  const [imported, setImported] = useState<Imported>();
  return (
    <Page
      title={
        <>
          <Link href="/">Workflows</Link> / import
        </>
      }
    >
      <ImportForm onDone={setImported} />
      {imported ? <ImportReport imported={imported} /> : null}
    </Page>
  );
}

function ImportForm({ onDone }: { readonly onDone: (imported: Imported) => void }) {
  const [document, setDocument] = useState('');
  const [name, setName] = useState('');
  const change = useChange('workflow', 'POST /api/v1/workflows/import');
  const submit = (event: FormEvent<HTMLFormElement>, dryRun: boolean) => {
    event.preventDefault();
    const body = { document, dryRun, ...(name.trim() === '' ? {} : { name: name.trim() }) };
    change.mutate({ body }, { onSuccess: onDone });
  };
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        const { submitter } = event.nativeEvent;
        submit(event, submitter?.getAttribute('value') === 'try');
      }}
    >
      <Field
        label="File"
        hint="JSON or YAML of n8n, Flowise (AgentFlow 2), Langflow, Serverless Workflow 1.0, or our own export"
      >
        <input
          type="file"
          accept=".json,.yaml,.yml,application/json"
          onChange={({ target }) => {
            void target.files?.[0]?.text().then(setDocument);
          }}
        />
      </Field>
      <Field label="Document" hint="Scripts in it are never run.">
        <textarea
          className="mono workflow-document"
          required
          value={document}
          onChange={({ target }) => setDocument(target.value)}
        />
      </Field>
      <Field label="Name" hint="As the document says where this is empty">
        <input value={name} maxLength={200} onChange={({ target }) => setName(target.value)} />
      </Field>
      {change.error ? <Problem error={change.error} /> : null}
      <div className="row">
        <button type="submit" className="primary" disabled={change.isPending}>
          Import
        </button>
        <button type="submit" value="try" disabled={change.isPending}>
          Only try
        </button>
      </div>
    </form>
  );
}
