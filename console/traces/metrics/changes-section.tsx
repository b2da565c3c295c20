import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { formatChange } from '../parts/durations.ts';
import { formatMinute } from '../parts/times.ts';
import type { Range, SectionProps } from './range-choice.tsx';

type Comparison = Answer<'tracer', 'GET /api/v1/metrics/compare'>;
type Operation = Comparison['operations'][number];

const hourMs = 3_600_000;
const lengthsMs: Readonly<Record<Range, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 168 * hourMs,
  '30d': 720 * hourMs,
};

/** Which operations changed between a time range and the one of that length before it. */
export function ChangesSection({ range }: Pick<SectionProps, 'range'>): ReactNode {
  const [nowMs] = useState(Date.now);
  const lengthMs = lengthsMs[range];
  const answer = useAnswer('tracer', 'GET /api/v1/metrics/compare', {
    query: {
      base: rangeText(nowMs - 2 * lengthMs, nowMs - lengthMs),
      other: rangeText(nowMs - lengthMs, nowMs),
    },
  });
  return (
    <Answered query={answer}>
      {(comparison) =>
        comparison.operations.length === 0 ? (
          <Empty title="Nothing ran in either time" />
        ) : (
          <Changes comparison={comparison} />
        )
      }
    </Answered>
  );
}

function Changes({ comparison }: { readonly comparison: Comparison }): ReactNode {
  const { base, other, work, operations, totalOperations } = comparison;
  return (
    <>
      <p>
        {tellRange(other)} against {tellRange(base)}.
      </p>
      <p>
        All spans together were at work <strong>{formatChange(work.change)}</strong>:{' '}
        {formatChange(work.bySpeed)} because calls took longer or shorter,{' '}
        {formatChange(work.byVolume)} because there were more or fewer.
      </p>
      <div className="wide">
        <Table
          columns={columns}
          rows={operations}
          keyOf={({ service, name, kind }) => `${service} ${name} ${kind}`}
        />
      </div>
      {totalOperations > operations.length ? (
        <p className="faint">
          The {operations.length} that changed most of {formatCount(totalOperations)}.
        </p>
      ) : null}
    </>
  );
}

function rangeText(fromMs: number, toMs: number): string {
  return `${new Date(fromMs).toISOString()}/${new Date(toMs).toISOString()}`;
}

function tellRange({ startTime, endTime, spans, errorRate }: Comparison['base']): string {
  const times = `${formatMinute(Date.parse(startTime))} to ${formatMinute(Date.parse(endTime))}`;
  return `${times} (${formatCount(spans)} spans, ${formatShare(errorRate)} failed)`;
}

const columns: readonly Column<Operation>[] = [
  { title: 'Service', cell: ({ service }) => service },
  {
    title: 'Operation',
    cell: ({ name, kind }) => (
      <>
        {name} <span className="faint">{kind}</span>
      </>
    ),
  },
  beforeAndNow('Calls', ({ count }) => formatCount(count)),
  beforeAndNow('Median', ({ p50Duration }) => formatDuration(p50Duration)),
  beforeAndNow('p95', ({ p95Duration }) => formatDuration(p95Duration)),
  {
    title: 'Duration',
    cell: ({ durationChange, percentSlower }) => (
      <Verdict change={durationChange} isWorse={(percentSlower ?? 0) > 0}>
        {percentSlower === undefined ? '' : tellPercent(percentSlower)}
      </Verdict>
    ),
  },
  beforeAndNow('Errors', ({ errorRate }) => formatShare(errorRate)),
  {
    title: 'Error rate',
    cell: ({ errorRateChange, base, other }) => (
      <Verdict
        change={errorRateChange}
        isWorse={(other?.errorRate ?? 0) > (base?.errorRate ?? 0)}
      />
    ),
  },
  {
    title: 'Work',
    isFigure: true,
    cell: ({ workChange }) => <span className="nowrap">{formatChange(workChange)}</span>,
  },
];

function beforeAndNow(
  title: string,
  tell: (window: NonNullable<Operation['base']>) => string,
): Column<Operation> {
  return {
    title,
    isFigure: true,
    cell: ({ base, other }) => (
      <span className="nowrap">
        {base ? `${tell(base)} → ` : ''}
        {other ? tell(other) : 'gone'}
      </span>
    ),
  };
}

interface VerdictProps {
  readonly change: Operation['durationChange'];
  readonly isWorse: boolean;
  readonly children?: ReactNode;
}

/** Says more than chance alone only where it is more. */
function Verdict({ change, isWorse, children }: VerdictProps): ReactNode {
  if (change === 'too-few') return <span className="faint nowrap">too few</span>;
  if (change === 'insignificant') return <span className="faint">as before</span>;
  return (
    <>
      <Badge state={isWorse ? 'worse' : 'better'} tone={isWorse ? 'bad' : 'good'} /> {children}
    </>
  );
}

function tellPercent(percent: number): string {
  return `${Math.abs(percent)} % ${percent > 0 ? 'slower' : 'faster'}`;
}
