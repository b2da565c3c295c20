import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Badge } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge, formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import type { TraceSummary } from '../parts/answers.ts';
import { formatMoment } from '../parts/times.ts';

/** Traces one by one; two of them can be compared. */
export function TraceTable({ traces }: { readonly traces: readonly TraceSummary[] }): ReactNode {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const longestMs = Math.max(1, ...traces.map(({ duration }) => duration));
  return (
    <>
      <CompareBar chosen={chosen} onClear={() => setChosen([])} />
      <div className="wide">
        <Table
          columns={[choiceColumn(chosen, setChosen), ...head, durationColumn(longestMs), ...tail]}
          rows={traces}
          keyOf={({ traceId }) => traceId}
        />
      </div>
    </>
  );
}

function choiceColumn(
  chosen: readonly string[],
  onChoose: (chosen: readonly string[]) => void,
): Column<TraceSummary> {
  return {
    title: 'Compare',
    cell: ({ traceId, name }) => (
      <input
        type="checkbox"
        aria-label={`Compare ${name} ${traceId.slice(0, 8)}`}
        checked={chosen.includes(traceId)}
        disabled={chosen.length === 2 && !chosen.includes(traceId)}
        onChange={({ target }) =>
          onChoose(target.checked ? [...chosen, traceId] : chosen.filter((one) => one !== traceId))
        }
      />
    ),
  };
}

function durationColumn(longestMs: number): Column<TraceSummary> {
  return {
    title: 'Duration',
    cell: (trace) => <Duration trace={trace} longestMs={longestMs} />,
  };
}

interface CompareBarProps {
  readonly chosen: readonly string[];
  readonly onClear: () => void;
}

function CompareBar({ chosen, onClear }: CompareBarProps): ReactNode {
  const [, navigate] = useLocation();
  const [base, other] = chosen;
  if (base === undefined) return null;
  return (
    <div className="row compare-bar">
      <output>
        {other === undefined ? 'Choose a second trace to compare with.' : 'Two traces chosen.'}
      </output>
      <button
        type="button"
        className="primary"
        disabled={other === undefined}
        onClick={() => navigate(`/compare?base=${base}&other=${other ?? ''}`)}
      >
        Compare
      </button>
      <button type="button" onClick={onClear}>
        Choose none
      </button>
    </div>
  );
}

interface DurationProps {
  readonly trace: TraceSummary;
  readonly longestMs: number;
}

function Duration({ trace, longestMs }: DurationProps): ReactNode {
  const { duration, status } = trace;
  return (
    <div className="duration">
      <span>{formatDuration(duration)}</span>
      <span className="duration-rail">
        <span
          className={status === 'success' ? 'duration-bar' : 'duration-bar failed'}
          style={{ width: `${Math.max(1, (duration / longestMs) * 100)}%` }}
        />
      </span>
    </div>
  );
}

const head: readonly Column<TraceSummary>[] = [
  {
    title: 'Name',
    cell: ({ traceId, name, error }) => (
      <>
        <Link href={`/${traceId}`} className="trace-name">
          {name}
        </Link>
        {error ? <div className="trace-error">{error.message || error.code}</div> : null}
      </>
    ),
  },
  { title: 'Service', cell: ({ service }) => service },
  {
    title: 'Started',
    cell: ({ startTime }) => (
      <span className="nowrap" title={formatMoment(startTime)}>
        {formatAge(startTime)}
      </span>
    ),
  },
];

const tail: readonly Column<TraceSummary>[] = [
  { title: 'Spans', isFigure: true, cell: ({ spans }) => formatCount(spans) },
  {
    title: 'Status',
    cell: ({ status, isComplete }) => (
      <>
        <Badge state={status} tone={status === 'success' ? 'good' : 'bad'} />
        {isComplete ? null : <div className="faint">still open</div>}
      </>
    ),
  },
  {
    title: 'Agents',
    cell: ({ agents }) => (
      <span className="trace-agents" title={agents.join(', ')}>
        {agents.slice(0, 2).join(', ')}
        {agents.length > 2 ? ` and ${agents.length - 2} more` : ''}
      </span>
    ),
  },
  {
    title: 'Tokens',
    isFigure: true,
    cell: ({ genAi }) =>
      genAi ? (
        <span title={`${genAi.inputTokens} in, ${genAi.outputTokens} out`}>
          {formatCount(genAi.inputTokens + genAi.outputTokens)}
          {genAi.costUsd > 0 ? <div className="faint">{formatDollars(genAi.costUsd)}</div> : null}
        </span>
      ) : null,
  },
  {
    title: 'Bottlenecks',
    isFigure: true,
    cell: ({ traceId, bottlenecks }) =>
      bottlenecks ? <Link href={`/${traceId}?tab=bottlenecks`}>{bottlenecks}</Link> : null,
  },
];
