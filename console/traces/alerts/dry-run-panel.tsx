import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../../api/call.ts';
import { unrecorded } from '../../api/trace-context.ts';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatSeconds } from '../../ui/text.ts';
import type { DryRun } from '../parts/answers.ts';
import { formatMoment } from '../parts/times.ts';
import { conditionOf, type AlertDraft, type Condition } from './draft.ts';
import { FiringStrip } from './firing-strip.tsx';

const ranges = ['1h', '24h', '7d'] as const;
type Range = (typeof ranges)[number];

/** Says when the condition of a draft would have fired in the past. */
export function DryRunPanel({ draft }: { readonly draft: AlertDraft }): ReactNode {
  const [timeRange, setTimeRange] = useState<Range>('24h');
  const run = useMutation({
    mutationFn: (condition: Condition) =>
      call('tracer', 'POST /api/v1/alerts/dry-run', {
        body: { condition, timeRange },
        headers: unrecorded(),
      }),
  });
  return (
    <section className="stack" aria-label="Dry run">
      <div className="row">
        <button
          type="button"
          disabled={run.isPending}
          onClick={() => run.mutate(conditionOf(draft))}
        >
          {run.isPending ? 'Looking at the past …' : 'Dry run'}
        </button>
        <label className="row">
          over
          <select value={timeRange} onChange={({ target }) => setTimeRange(target.value as Range)}>
            {ranges.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {run.error ? <Problem error={run.error} /> : null}
      {run.data ? <Outcome outcome={run.data} /> : null}
    </section>
  );
}

function Outcome({ outcome }: { readonly outcome: DryRun }): ReactNode {
  const { firings, totalFirings, evaluations, stepMinutes, warnings = [] } = outcome;
  const times = totalFirings === 1 ? 'once' : `${formatCount(totalFirings)} times`;
  return (
    <>
      <output>
        {totalFirings === 0 ? 'It would not have fired.' : `It would have fired ${times}.`}{' '}
        <span className="faint">
          Looked at {formatCount(evaluations)} times, every{' '}
          {stepMinutes === 1 ? 'minute' : `${stepMinutes} minutes`}.
        </span>
      </output>
      {warnings.map((warning) => (
        <p key={warning} className="warning-text">
          {warning}
        </p>
      ))}
      {firings.length > 0 ? (
        <>
          <FiringStrip outcome={outcome} />
          <Table
            columns={columns}
            rows={firings.slice(0, firingsShown)}
            keyOf={({ firedAt }) => firedAt}
          />
          {totalFirings > firingsShown ? (
            <p className="faint">The first {firingsShown} of them.</p>
          ) : null}
        </>
      ) : null}
    </>
  );
}

const firingsShown = 20;

const columns: readonly Column<DryRun['firings'][number]>[] = [
  { title: 'Fired', cell: ({ firedAt }) => formatMoment(firedAt) },
  {
    title: 'Resolved',
    cell: ({ resolvedAt }) => (resolvedAt ? formatMoment(resolvedAt) : 'not until the end'),
  },
  {
    title: 'Lasted',
    cell: ({ firedAt, resolvedAt }) =>
      resolvedAt ? formatSeconds((Date.parse(resolvedAt) - Date.parse(firedAt)) / 1_000) : '',
  },
  { title: 'Peak', isFigure: true, cell: ({ peak }) => +peak.toPrecision(4) },
];
