import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Answer, InputOf } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { LineChart } from './line-chart.tsx';
import type { Range } from './range-choice.tsx';

type Point = Answer<'tracer', 'GET /api/v1/metrics/timeline'>['points'][number];
type TimelineInput = NonNullable<InputOf<'tracer', 'GET /api/v1/metrics/timeline'>['query']>;

/** How long a point's step is, in words. */
const steps: Readonly<Record<Range, string>> = {
  '1h': '1 min',
  '24h': '1 h',
  '7d': '6 h',
  '30d': '1 day',
};

export interface SeriesChartsProps {
  readonly range: Range;
  readonly title: string;
  /** Whose traces; absent: all. */
  readonly of?: Required<Pick<TimelineInput, 'groupBy' | 'key'>> | undefined;
}

/** How a range went: rate, errors and durations over time. */
export function SeriesCharts({ range, title, of }: SeriesChartsProps): ReactNode {
  const timeline = useAnswer('tracer', 'GET /api/v1/metrics/timeline', {
    query: { timeRange: range, ...of },
  });
  return (
    <section className="stack" aria-label={`${title} over time`}>
      <h2>{title}</h2>
      <Answered query={timeline}>
        {({ points }) => <Charts points={points} step={steps[range]} />}
      </Answered>
    </section>
  );
}

function Charts({ points, step }: { readonly points: readonly Point[]; readonly step: string }) {
  const timesMs = points.map(({ startTime }) => Date.parse(startTime));
  // A step without traces has no error rate and no durations.
  const valuesOf = (read: (point: Point) => number) =>
    points.map((point) => (point.totalRequests > 0 ? read(point) : undefined));
  return (
    <div className="charts">
      <LineChart
        title={`Traces in ${step}`}
        timesMs={timesMs}
        format={formatAmount}
        lines={[
          {
            title: 'traces',
            tone: 'accent',
            values: points.map(({ totalRequests }) => totalRequests),
          },
        ]}
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
          { title: 'p50', tone: 'good', values: valuesOf(({ p50Duration }) => p50Duration) },
          { title: 'p95', tone: 'warning', values: valuesOf(({ p95Duration }) => p95Duration) },
          { title: 'p99', tone: 'bad', values: valuesOf(({ p99Duration }) => p99Duration) },
        ]}
      />
    </div>
  );
}

/** Few traces have parts of them on their axis. */
function formatAmount(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : value.toFixed(1);
}
