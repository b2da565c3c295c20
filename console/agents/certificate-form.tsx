import type { ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Permitted } from '../session/permitted.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { saveFile } from '../ui/download.ts';
import { Field } from '../ui/field.tsx';
import { textOf } from '../ui/form-values.ts';
import { Certificate } from './certificate.tsx';

/** Has the mesh sign a request that was made elsewhere: keys never come here. */
export function CertificateForm(): ReactNode {
  const issue = useChange('mesh', 'POST /api/v1/certificates');
  const submit = (form: FormData) =>
    issue.mutate({ body: { agentId: textOf(form, 'agent').trim(), csr: textOf(form, 'csr') } });
  return (
    <>
      <Permitted needs="mesh:communicate">
        <ChangeForm change={issue} action="Issue" onSubmit={submit}>
          <Field label="Agent">
            <input name="agent" required />
          </Field>
          <Field
            label="Certificate signing request"
            hint="PKCS #10 in PEM; the key is P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits"
          >
            <textarea
              name="csr"
              required
              rows={8}
              className="mono"
              placeholder="-----BEGIN CERTIFICATE REQUEST-----"
            />
          </Field>
          <details>
            <summary>How to make one</summary>
            <pre className="json">
              openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout agent.key
              -subj /CN=agent
            </pre>
          </details>
        </ChangeForm>
      </Permitted>
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
