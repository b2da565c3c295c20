import type { ReactNode } from 'react';
import { useAnswer } from '../api/answers.ts';
import { Answered } from '../ui/answered.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { saveFile } from '../ui/download.ts';
import { Page } from '../ui/page.tsx';
import { AgentsNav } from './agents-nav.tsx';
import { CertificateForm } from './certificate-form.tsx';
import { Certificate } from './certificate.tsx';
import { splitPem } from './pem.ts';

/** The roots that agents trust, and certificates for agents that speak gRPC. */
export function CertificatesPage(): ReactNode {
  const roots = useAnswer('mesh', 'GET /api/v1/certificates/ca');
  return (
    <Page title="Agents">
      <AgentsNav />
      <div className="columns">
        <section className="card stack">
          <h2>Roots that are trusted now</h2>
          <Answered query={roots}>{({ ca }) => <Roots pem={ca} />}</Answered>
        </section>
        <section className="card stack">
          <h2>A certificate for an agent</h2>
          <CertificateForm />
        </section>
      </div>
    </Page>
  );
}

function Roots({ pem }: { readonly pem: string }): ReactNode {
  return (
    <>
      {splitPem(pem).map((root) => (
        <Certificate key={root} pem={root} />
      ))}
      <div className="row">
        <button type="button" onClick={() => saveFile('ca.pem', pem, 'application/x-pem-file')}>
          Download
        </button>
        <CopyButton text={pem} />
      </div>
      <p className="faint flat">
        Trust exactly these, and ask again in time: a next root is trusted before it signs.
      </p>
    </>
  );
}
