import { useMemo, type ReactNode } from 'react';
import { Answered } from '../../ui/answered.tsx';
import { formatCount, formatDuration, formatSeconds } from '../../ui/text.ts';
import { formatShare } from '../parts/durations.ts';
import { LineChart } from './line-chart.tsx';
import type { Range } from './range-choice.tsx';
import type { Interval, Point } from './series.ts';
import { sampleSize, useSeries, type SeriesFilter } from './use-series.ts';

const hourMs = 3_600_000;
/** Single traces are kept for seven days, sums for longer. */
const lengths: Readonly<Record<Range, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 168 * hourMs,
  '30d': 168 * hourMs,
};

export interface SeriesChartsProps {
  readonly range: Range;
  readonly title: string;
  readonly filter: SeriesFilter;
}

/** How a range went: rate, errors and durations over time. */
export function SeriesCharts({ range, title, filter }: SeriesChartsProps): ReactNode {
  const interval = useMemo(() => rangeUntilNow(range), [range]);
  const series = useSeries(interval, filter);
  return (
    <section className="stack" aria-label={`${title} over time`}>
      <h2>{title}</h2>
      <Answered query={series}>{(points) => <Charts points={points} />}</Answered>
      {range === '30d' ? (
        <p className="faint">
          The lines show the last seven days, for which single traces are kept; the table below all
          thirty.
        </p>
      ) : null}
    </section>
  );
}

function Charts({ points }: { readonly points: readonly Point[] }): ReactNode {
  const timesMs = points.map(({ timeMs }) => timeMs);
  const [firstMs = 0, secondMs = 0] = timesMs;
  const stepMs = secondMs - firstMs;
  const valuesOf = (read: (point: Point) => number | undefined) => points.map(read);
  return (
    <>
      <div className="charts">
        <LineChart
          title={`Traces in ${formatSeconds(stepMs / 1_000)}`}
          timesMs={timesMs}
          format={formatAmount}
          lines={[{ title: 'traces', tone: 'accent', values: valuesOf(({ count }) => count) }]}
        />
        <LineChart
          title="Error rate"
          timesMs={timesMs}
          format={formatShare}
          lines={[{ title: 'errors', tone: 'bad', values: valuesOf((point) => point.errorRate) }]}
        />
        <LineChart
          title="Durations"
          timesMs={timesMs}
          format={formatDuration}
          lines={[
            { title: 'p50', tone: 'good', values: valuesOf(({ p50 }) => p50) },
            { title: 'p95', tone: 'warning', values: valuesOf(({ p95 }) => p95) },
            { title: 'p99', tone: 'bad', values: valuesOf(({ p99 }) => p99) },
          ]}
        />
      </div>
      {points.some(({ isSampled }) => isSampled) ? (
        <p className="faint">
          Where a point stands for more than {sampleSize} traces, errors and durations are those of
          its newest {sampleSize}. The table below counts all.
        </p>
      ) : null}
    </>
  );
}

/** Up to the next whole minute, so that what was asked a moment ago need not be asked again. */
function rangeUntilNow(range: Range): Interval {
  const toMs = Math.ceil(Date.now() / 60_000) * 60_000;
  return { fromMs: toMs - lengths[range], toMs };
}

/** Few traces have parts of them on their axis. */
function formatAmount(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : value.toFixed(1);
}
