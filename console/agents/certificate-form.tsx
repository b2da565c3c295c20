import { useState, type FormEvent, type ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { saveFile } from '../ui/download.ts';
import { Field } from '../ui/field.tsx';
import { Problem } from '../ui/problem.tsx';
import { Certificate } from './certificate.tsx';

/** Has the mesh sign a request that was made elsewhere: keys never come here. */
export function CertificateForm(): ReactNode {
  const [agentId, setAgentId] = useState('');
  const [csr, setCsr] = useState('');
  const issue = useChange('mesh', 'POST /api/v1/certificates');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    issue.mutate({ body: { agentId: agentId.trim(), csr } });
  };
  return (
    <>
      <form className="stack" onSubmit={submit}>
        <Field label="Agent">
          <input required value={agentId} onChange={({ target }) => setAgentId(target.value)} />
        </Field>
        <Field
          label="Certificate signing request"
          hint="PKCS #10 in PEM; the key is P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits"
        >
          <textarea
            required
            rows={8}
            className="mono"
            placeholder="-----BEGIN CERTIFICATE REQUEST-----"
            value={csr}
            onChange={({ target }) => setCsr(target.value)}
          />
        </Field>
        <details>
          <summary>How to make one</summary>
          <pre className="json">
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout agent.key
            -subj /CN=agent
          </pre>
        </details>
        {issue.error ? <Problem error={issue.error} /> : null}
        <div>
          <button type="submit" className="primary" disabled={issue.isPending}>
            Issue
          </button>
        </div>
      </form>
      {issue.data ? <Issued {...issue.data} /> : null}
    </>
  );
}

function Issued({
  certificate,
  expiresAt,
}: Answer<'mesh', 'POST /api/v1/certificates'>): ReactNode {
  return (
    <section className="stack" aria-label="The certificate">
      <output>
        Issued, good until {new Date(expiresAt).toLocaleString()}. Get the next one after half of
        that time.
      </output>
      <Certificate pem={certificate} />
      <div className="row">
        <button
          type="button"
          onClick={() => saveFile('agent.pem', certificate, 'application/x-pem-file')}
        >
          Download
        </button>
        <CopyButton text={certificate} />
      </div>
    </section>
  );
}
