import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatCount } from '../../ui/text.ts';

type Verified = Answer<'auth', 'GET /api/v1/auth/audit/verify'>;

/** Has the whole log checked, which is asked for as it takes time. */
export function Verification(): ReactNode {
  const check = useMutation({ mutationFn: () => call('auth', 'GET /api/v1/auth/audit/verify') });
  return (
    <section className="card stack" aria-label="Verification">
      <div className="row">
        <button type="button" disabled={check.isPending} onClick={() => check.mutate()}>
          Verify the log
        </button>
        <span className="faint">
          Computes the chain of hashes again and compares it with the signed checkpoints.
        </span>
      </div>
      {check.error ? <Problem error={check.error} /> : null}
      {check.data ? <Verdict verified={check.data} /> : null}
    </section>
  );
}

function Verdict({
  verified: { valid, checked, brokenAt, reason, head },
}: {
  readonly verified: Verified;
}) {
  return (
    <output className="stack">
      {valid ? (
        <Badge state={`All ${formatCount(checked)} events are what was written`} tone="good" />
      ) : (
        <Badge state={`The log breaks at event ${brokenAt ?? '?'}: ${reason ?? ''}`} tone="bad" />
      )}
      <span className="faint">
        Kept elsewhere, this proves it later: event {head.seq}, <code>{head.hash}</code>
      </span>
    </output>
  );
}
