import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/call.ts';
import type { InputOf } from '../../api/contracts.ts';
import { unrecorded } from '../../api/trace-context.ts';
import { Problem } from '../../ui/problem.tsx';
import { formatDuration } from '../../ui/text.ts';
import type { WhatIf } from '../parts/answers.ts';

type Body = InputOf<'tracer', 'POST /api/v1/traces/:traceId/what-if'>['body'];
export type Change = NonNullable<NonNullable<Body>['changes']>[number];

/** Asks how long a trace would have taken; it changes nothing. */
export function useWhatIf(traceId: string) {
  return useMutation({
    mutationFn: (changes: readonly Change[]): Promise<WhatIf> =>
      call('tracer', 'POST /api/v1/traces/:traceId/what-if', {
        params: { traceId },
        body: { changes: [...changes] },
        headers: unrecorded(),
      }),
  });
}

export interface WhatIfButtonProps {
  readonly traceId: string;
  readonly change: Change;
}

/** Says what the trace would gain by one change. */
export function WhatIfButton({ traceId, change }: WhatIfButtonProps): ReactNode {
  const whatIf = useWhatIf(traceId);
  return (
    <>
      <button type="button" disabled={whatIf.isPending} onClick={() => whatIf.mutate([change])}>
        What if twice as fast?
      </button>
      {whatIf.data ? <output className="what-if-answer">{tellSaving(whatIf.data)}</output> : null}
      {whatIf.error ? <Problem error={whatIf.error} /> : null}
    </>
  );
}

/** A projection in a sentence. */
export function tellSaving({
  totalDuration,
  projectedDuration,
  saving,
  percentSaved,
}: WhatIf): string {
  const from = formatDuration(totalDuration);
  if (saving === 0) return `The trace would still take ${from}.`;
  const change = `${formatDuration(Math.abs(saving))} ${saving > 0 ? 'less' : 'more'}`;
  const to = formatDuration(projectedDuration);
  return `The trace would take ${to} in place of ${from}: ${change}, ${Math.abs(percentSaved)} %.`;
}
