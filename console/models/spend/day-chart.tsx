import type { ReactNode } from 'react';
import { daysBetween, layColumns } from './columns.ts';
import { formatMeasure, measureOf, type Measure, type SpendReport } from './measures.ts';

const size = { width: 900, height: 140 };

export interface DayChartProps {
  readonly report: SpendReport;
  readonly measure: Measure;
}

/** A bar for each day, also for those on which nothing was spent. */
export function DayChart({ report, measure }: DayChartProps): ReactNode {
  const days = daysBetween(report.from, report.to);
  const byDay = new Map(report.spend.map((group) => [group.group, measureOf(group, measure)]));
  const values = days.map((day) => byDay.get(day) ?? 0);
  const bars = layColumns(values, size);
  return (
    <figure className="day-chart">
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        // The table below tells the same in words.
        aria-hidden="true"
        preserveAspectRatio="none"
      >
        {bars.map((bar, index) => (
          <g key={days[index]}>
            <rect {...bar} className="bar-shape" />
            <rect {...bar} y={0} height={size.height} fill="transparent">
              <title>{`${days[index]}: ${formatMeasure(values[index] ?? 0, measure)}`}</title>
            </rect>
          </g>
        ))}
      </svg>
      <figcaption className="faint">
        <span>{report.from}</span>
        <span>at most {formatMeasure(Math.max(...values, 0), measure)} a day</span>
        <span>{report.to}</span>
      </figcaption>
    </figure>
  );
}
