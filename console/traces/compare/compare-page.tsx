import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDuration } from '../../ui/text.ts';
import type { Comparison } from '../parts/answers.ts';
import { formatChange } from '../parts/durations.ts';
import { formatMoment } from '../parts/times.ts';
import { TracesNav } from '../parts/traces-nav.tsx';
import { PlaceTable } from './place-table.tsx';

/** What makes one trace longer than another. */
export function ComparePage(): ReactNode {
  const [parameters, setParameters] = useSearchParams();
  const base = parameters.get('base') ?? '';
  const other = parameters.get('other') ?? '';
  const isAsked = base !== '' && other !== '';
  const answer = useAnswer('tracer', 'GET /api/v1/traces/compare', {
    query: { base, other },
    isEnabled: isAsked,
  });
  return (
    <Page
      title="Compare two traces"
      actions={
        <button
          type="button"
          disabled={!isAsked}
          onClick={() => setParameters({ base: other, other: base })}
        >
          Swap
        </button>
      }
    >
      <TracesNav />
      {isAsked ? (
        <Answered query={answer}>{(comparison) => <Difference comparison={comparison} />}</Answered>
      ) : (
        <Empty title="Two traces are needed">
          <p>
            Choose two in the <Link href="/">list of traces</Link>.
          </p>
        </Empty>
      )}
    </Page>
  );
}

function Difference({ comparison }: { readonly comparison: Comparison }): ReactNode {
  const { base, other, difference, explanation, spans, totalSpans } = comparison;
  const rest: readonly (readonly [string, number])[] = [
    ['All other operations', explanation.rest],
    ['Time in which no span ran', explanation.uninstrumented],
  ];
  return (
    <>
      <div className="columns">
        <ComparedTrace title="Base" trace={base} />
        <ComparedTrace title="Other" trace={other} />
        <section className="card figure-card">
          <h2>Difference</h2>
          <strong>{formatChange(difference)}</strong>
          <span className="faint">{tellDifference(difference)}</span>
        </section>
      </div>
      <section className="stack">
        <h2>What the difference is made of</h2>
        {explanation.operations.length === 0 ? (
          <p className="faint">No operation has more or less of the critical path.</p>
        ) : (
          <Table
            columns={operationColumns}
            rows={explanation.operations}
            keyOf={({ service, name }) => `${service} ${name}`}
          />
        )}
        <p className="faint">
          {rest.map(([title, ms]) => `${title}: ${formatChange(ms)}`).join('. ')}.
        </p>
      </section>
      <section className="stack">
        <h2>
          Places in the tree{' '}
          {spans.length < totalSpans ? (
            <span className="faint">
              the first {spans.length} of {formatCount(totalSpans)}
            </span>
          ) : null}
        </h2>
        <PlaceTable places={spans} />
      </section>
    </>
  );
}

function tellDifference(ms: number): string {
  if (ms === 0) return 'Both take as long.';
  return ms > 0 ? 'The other one takes longer.' : 'The other one is faster.';
}

interface ComparedTraceProps {
  readonly title: string;
  readonly trace: Comparison['base'];
}

function ComparedTrace({ title, trace }: ComparedTraceProps): ReactNode {
  const { traceId, name, startTime, duration, status, spans } = trace;
  return (
    <section className="card figure-card" aria-label={title}>
      <h2>
        {title}: <Link href={`/${traceId}`}>{name}</Link>
      </h2>
      <strong>{formatDuration(duration)}</strong>
      <span className="row">
        <Badge state={status} tone={status === 'success' ? 'good' : 'bad'} />
        {formatCount(spans)} spans, {formatMoment(startTime)}
      </span>
    </section>
  );
}

type OperationChange = Comparison['explanation']['operations'][number];

const operationColumns: readonly Column<OperationChange>[] = [
  { title: 'Service', cell: ({ service }) => service },
  { title: 'Operation', cell: ({ name }) => name },
  {
    title: 'Spans',
    isFigure: true,
    cell: ({ baseCount, otherCount }) =>
      baseCount === otherCount ? formatCount(baseCount) : `${baseCount} → ${otherCount}`,
  },
  {
    title: 'On the critical path',
    isFigure: true,
    cell: ({ change }) => (
      <span className={change > 0 ? 'failed-figure' : ''}>{formatChange(change)}</span>
    ),
  },
  {
    title: 'Of the difference',
    isFigure: true,
    cell: ({ percentOfDifference }) => `${percentOfDifference} %`,
  },
];
