import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import type { Metrics } from '../parts/answers.ts';
import { formatRate } from '../parts/durations.ts';
import { SortableTable, type SortableColumn } from '../parts/sortable-table.tsx';
import type { SectionProps } from './range-choice.tsx';
import { SeriesCharts } from './series-charts.tsx';

const groupings = ['operation', 'agent', 'status'] as const;
type Grouping = (typeof groupings)[number];
type Row = Metrics['aggregations'][number];

const rowsMax = 500;

/** Rates, errors and percentiles of all traces, or of one operation, agent or status over time. */
export function RatesSection({ range, parameters, onSet }: SectionProps): ReactNode {
  const groupBy = groupings.find((one) => one === parameters.get('by')) ?? 'operation';
  const chosen = parameters.get('key') ?? '';
  const answer = useAnswer('tracer', 'GET /api/v1/metrics/aggregate', {
    query: { timeRange: range, groupBy, limit: rowsMax },
  });
  const columns = columnsOf(groupBy, (key) => onSet({ by: groupBy, key }));
  return (
    <>
      <div className="row">
        <label className="row traces-choice">
          By
          <select value={groupBy} onChange={({ target }) => onSet({ by: target.value, key: '' })}>
            {groupings.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {chosen ? (
          <button type="button" onClick={() => onSet({ key: '' })}>
            Show all traces
          </button>
        ) : null}
      </div>
      <SeriesCharts
        range={range}
        title={chosen || 'All traces'}
        of={chosen ? { groupBy, key: chosen } : undefined}
      />
      <Answered query={answer}>
        {({ aggregations, total }) =>
          aggregations.length === 0 ? (
            <Empty title="No traces in this time">
              <p>Traces are counted once they are complete; choose a longer time range.</p>
            </Empty>
          ) : (
            <>
              <SortableTable
                columns={columns}
                rows={aggregations}
                keyOf={({ key }) => key}
                sortedBy="Traces"
                isChosen={({ key }) => key === chosen}
              />
              {total > aggregations.length ? (
                <p className="faint">
                  The {aggregations.length} with most traces of {formatCount(total)}.
                </p>
              ) : null}
            </>
          )
        }
      </Answered>
    </>
  );
}

const titles: Readonly<Record<Grouping, string>> = {
  operation: 'Operation',
  agent: 'Agent',
  status: 'Status',
};

function columnsOf(
  groupBy: Grouping,
  onChoose: (key: string) => void,
): readonly SortableColumn<Row>[] {
  return [
    {
      title: titles[groupBy],
      value: ({ key }) => key,
      cell: ({ key }) => (
        <button type="button" className="as-link" onClick={() => onChoose(key)}>
          {key}
        </button>
      ),
    },
    {
      title: 'Traces',
      value: ({ metrics }) => metrics.totalRequests,
      cell: ({ metrics }) => formatCount(metrics.totalRequests),
    },
    {
      title: 'Rate',
      value: ({ metrics }) => metrics.throughput,
      cell: ({ metrics }) => formatRate(metrics.throughput),
    },
    {
      title: 'Errors',
      value: ({ metrics }) => metrics.errorRate,
      cell: ({ metrics: { errorRate } }) => (
        <span className={errorRate > 0 ? 'failed-figure' : ''}>{formatShare(errorRate)}</span>
      ),
    },
    time('Average', ({ metrics }) => metrics.averageDuration),
    time('p50', ({ metrics }) => metrics.p50Duration),
    time('p95', ({ metrics }) => metrics.p95Duration),
    time('p99', ({ metrics }) => metrics.p99Duration),
  ];
}

function time(title: string, value: (row: Row) => number): SortableColumn<Row> {
  return { title, value, cell: (row) => formatDuration(value(row)) };
}
