import type { ReactNode } from 'react';
import { Answered } from '../../ui/answered.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { LineChart } from './line-chart.tsx';
import type { Range } from './range-choice.tsx';
import type { Point } from './series.ts';
import { sampleSize, useSeries, type SeriesFilter, type Steps } from './use-series.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

interface NamedSteps extends Steps {
  readonly title: string;
}

/** Single traces are kept for seven days, sums for longer. */
const week: NamedSteps = { stepMs: 8 * hourMs, count: 21, title: '8 h' };
const steps: Readonly<Record<Range, NamedSteps>> = {
  '1h': { stepMs: 3 * minuteMs, count: 20, title: '3 min' },
  '24h': { stepMs: hourMs, count: 24, title: '1 h' },
  '7d': week,
  '30d': week,
};

export interface SeriesChartsProps {
  readonly range: Range;
  readonly title: string;
  readonly filter: SeriesFilter;
}

/** How a range went: rate, errors and durations over time. */
export function SeriesCharts({ range, title, filter }: SeriesChartsProps): ReactNode {
  const series = useSeries(steps[range], filter);
  return (
    <section className="stack" aria-label={`${title} over time`}>
      <h2>{title}</h2>
      <Answered query={series}>
        {(points) => <Charts points={points} step={steps[range].title} />}
      </Answered>
      {range === '30d' ? (
        <p className="faint">
          The lines show the last seven days, for which single traces are kept; the table below all
          thirty.
        </p>
      ) : null}
    </section>
  );
}

interface ChartsProps {
  readonly points: readonly Point[];
  /** How long a point's interval is, in words. */
  readonly step: string;
}

function Charts({ points, step }: ChartsProps): ReactNode {
  const timesMs = points.map(({ timeMs }) => timeMs);
  const valuesOf = (read: (point: Point) => number | undefined) => points.map(read);
  return (
    <>
      <div className="charts">
        <LineChart
          title={`Traces in ${step}`}
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
          format={(ms) => (ms === 0 ? '0' : formatDuration(ms))}
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

/** Few traces have parts of them on their axis. */
function formatAmount(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : value.toFixed(1);
}
