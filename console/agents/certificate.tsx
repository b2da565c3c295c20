import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Facts } from '../ui/facts.tsx';
import { Problem } from '../ui/problem.tsx';
import { readCertificate } from './pem.ts';

/** What stands in a certificate, and the certificate itself. */
export function Certificate({ pem }: { readonly pem: string }): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['certificate', pem],
    queryFn: () => readCertificate(pem),
    staleTime: Infinity,
  });
  return (
    <div className="stack">
      {error ? <Problem error={error} /> : null}
      <Facts
        facts={[
          ['Valid from', data?.validFrom?.toLocaleString()],
          ['Valid until', data?.validTo?.toLocaleString()],
          ['SHA-256', data && <code key="digest">{data.fingerprint}</code>],
        ]}
      />
      <details>
        <summary>PEM</summary>
        <pre className="json">{pem}</pre>
      </details>
    </div>
  );
}
