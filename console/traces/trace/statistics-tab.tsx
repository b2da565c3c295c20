import { useMemo, useState, type ReactNode } from 'react';
import { formatCount, formatShare } from '../../ui/text.ts';
import type { Trace } from '../parts/answers.ts';
import { formatMicros } from '../parts/durations.ts';
import { SortableTable, type SortableColumn } from '../parts/sortable-table.tsx';
import { selfTimesOf } from './self-times.ts';
import { layOutRows } from './span-rows.ts';
import { sumSpans, type Counted, type GroupSums } from './statistics.ts';

const groupings = [
  ['operation', 'Operation'],
  ['service', 'Service'],
] as const;

/** The spans of a trace added up. */
export function StatisticsTab({ trace }: { readonly trace: Trace }): ReactNode {
  const [groupBy, setGroupBy] = useState<'operation' | 'service'>('operation');
  const spans = useMemo(() => countedSpans(trace), [trace]);
  const sums = useMemo(() => sumSpans(spans, groupBy), [spans, groupBy]);
  const columns = useMemo(() => columnsOf(sums, groupBy), [sums, groupBy]);
  return (
    <div className="stack">
      <fieldset className="row choice">
        <legend>Group by</legend>
        {groupings.map(([value, title]) => (
          <label key={value}>
            <input
              type="radio"
              name="grouping"
              checked={groupBy === value}
              onChange={() => setGroupBy(value)}
            />{' '}
            {title}
          </label>
        ))}
      </fieldset>
      <SortableTable
        columns={columns}
        rows={sums}
        keyOf={({ service, name }) => `${service} ${name}`}
        sortedBy="Self time"
      />
    </div>
  );
}

function countedSpans({ spans }: Trace): Counted[] {
  const rows = layOutRows(spans);
  const selfTimes = selfTimesOf(rows);
  return rows.map(({ key, span }) => ({ ...span, selfUs: selfTimes.get(key) ?? 0 }));
}

function columnsOf(
  sums: readonly GroupSums[],
  groupBy: 'operation' | 'service',
): readonly SortableColumn<GroupSums>[] {
  const allSelfUs = sums.reduce((sum, { selfUs }) => sum + selfUs, 0);
  return [
    { title: 'Service', value: ({ service }) => service },
    ...(groupBy === 'service'
      ? []
      : [{ title: 'Operation', value: ({ name }: GroupSums) => name }]),
    { title: 'Count', value: ({ count }) => count, cell: ({ count }) => formatCount(count) },
    {
      title: 'Errors',
      value: ({ errors }) => errors,
      cell: ({ errors }) => (errors > 0 ? <span className="failed-figure">{errors}</span> : ''),
    },
    time('Total', ({ totalUs }) => totalUs),
    time('Average', ({ totalUs, count }) => Math.round(totalUs / count)),
    time('Median', ({ medianUs }) => medianUs),
    time('Longest', ({ longestUs }) => longestUs),
    time('Self time', ({ selfUs }) => selfUs),
    {
      title: 'Of all self time',
      value: ({ selfUs }) => selfUs,
      cell: ({ selfUs }) => (allSelfUs === 0 ? '' : formatShare(selfUs / allSelfUs)),
    },
  ];
}

function time(title: string, value: (row: GroupSums) => number): SortableColumn<GroupSums> {
  return { title, value, cell: (row) => formatMicros(value(row)) };
}
