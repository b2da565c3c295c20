import { averageMs, milliseconds, rangeOf, rate, rounded, type RangeTimes } from './answers.ts';
import type { SeriesKind } from '../series/series.ts';
import { countSeries, readStats, type SeriesStats, type StatsQuery } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import type { TimeRange } from '../series/time-range.ts';

export type AggregateGroup = 'agent' | 'operation' | 'status';
export type AggregateMetric = 'duration' | 'throughput' | 'errors';

export interface AggregateQuery {
  readonly timeRange: TimeRange;
  readonly groupBy: AggregateGroup;
  /** What comes first: the slowest on average, the most frequent, or what failed most often. */
  readonly metric: AggregateMetric;
  readonly limit: number;
}

/** Durations in whole milliseconds, rates 0..1, throughput in requests a second. */
export interface AggregateMetrics {
  readonly totalRequests: number;
  readonly successRate: number;
  readonly averageDuration: number;
  readonly p50Duration: number;
  readonly p95Duration: number;
  readonly p99Duration: number;
  readonly errorRate: number;
  readonly throughput: number;
}

export interface AggregatedMetrics extends RangeTimes {
  readonly aggregations: { readonly key: string; readonly metrics: AggregateMetrics }[];
  /** How many there are without the limit. */
  readonly total: number;
}

/** The series of which each is one group's. */
export const groupKinds: Readonly<Record<AggregateGroup, SeriesKind>> = {
  agent: 'traceAgent',
  operation: 'traceName',
  status: 'traceStatus',
};

const orders: Readonly<Record<AggregateMetric, NonNullable<StatsQuery['order']>>> = {
  duration: 'average',
  throughput: 'count',
  errors: 'errors',
};

/** Adds up the traces of a range by their agent, their name or their status. */
export async function aggregate(
  sql: SeriesSql,
  { timeRange, groupBy, metric, limit }: AggregateQuery,
  nowMs: number,
): Promise<AggregatedMetrics> {
  const { segments, times, seconds } = rangeOf(timeRange, nowMs);
  const kind = groupKinds[groupBy];
  const rows = await readStats(sql, {
    kind,
    segments,
    quantiles: metricQuantiles,
    order: orders[metric],
    limit,
  });
  const total = rows.length < limit ? rows.length : await countSeries(sql, { kind, segments });
  const aggregations = rows.map((row) => ({
    key: row.labels[0] ?? '',
    metrics: metricsOf(row, seconds),
  }));
  return { ...times, aggregations, total };
}

/** Shares whose quantiles metrics tell. */
export const metricQuantiles = [0.5, 0.95, 0.99];

/** What sums of so many seconds say; the quantiles are those of `metricQuantiles`. */
export function metricsOf(
  { count, errors, sum, quantiles }: Omit<SeriesStats, 'labels'>,
  seconds: number,
): AggregateMetrics {
  const [p50 = 0, p95 = 0, p99 = 0] = quantiles;
  const errorRate = rate(errors, count);
  return {
    totalRequests: count,
    successRate: rounded(1 - errorRate),
    averageDuration: averageMs(sum, count),
    p50Duration: milliseconds(p50),
    p95Duration: milliseconds(p95),
    p99Duration: milliseconds(p99),
    errorRate,
    throughput: rounded(count / seconds),
  };
}
