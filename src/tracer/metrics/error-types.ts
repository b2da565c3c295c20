import { rangeOf, rate, type RangeTimes } from './answers.ts';
import { recommend } from './error-advice.ts';
import { grouped } from './grouping.ts';
import { readStats } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import type { TimeRange } from '../series/time-range.ts';

/** How often traces failed in one way. */
export interface ErrorType {
  readonly errorCode: string;
  readonly count: number;
  /** Of all errors, 0..100. */
  readonly percentage: number;
  /** At most a hundred, the most often affected first. */
  readonly affectedAgents: string[];
}

export interface ErrorDistribution extends RangeTimes {
  readonly totalErrors: number;
  /** Failed traces among all of the range, 0..1. */
  readonly errorRate: number;
  readonly errorsByType: ErrorType[];
  readonly recommendations: string[];
}

const seriesMax = 20_000;
const agentsMax = 100;

/** Counts the failed traces of a range by their error, the most frequent first. */
export async function distributeErrors(
  sql: SeriesSql,
  timeRange: TimeRange,
  nowMs: number,
): Promise<ErrorDistribution> {
  const { segments, times } = rangeOf(timeRange, nowMs);
  const [errors, statuses] = await Promise.all([
    readStats(sql, { kind: 'error', segments, limit: seriesMax }),
    readStats(sql, { kind: 'traceStatus', segments, limit: seriesMax }),
  ]);
  const totalErrors = errors.reduce((sum, { count }) => sum + count, 0);
  const traces = statuses.reduce((sum, { count }) => sum + count, 0);
  const byCode = grouped(errors, ({ labels }) => labels[0] ?? '');
  const errorsByType = [...byCode]
    .map(([errorCode, rows]): ErrorType => {
      const count = rows.reduce((sum, row) => sum + row.count, 0);
      // The rows come by their counts.
      const affectedAgents = rows.map(({ labels }) => labels[1] ?? '').slice(0, agentsMax);
      return { errorCode, count, percentage: rate(100 * count, totalErrors), affectedAgents };
    })
    .toSorted((one, other) => other.count - one.count);
  const errorRate = rate(totalErrors, traces);
  const recommendations = recommend(errorsByType, errorRate);
  return { ...times, totalErrors, errorRate, errorsByType, recommendations };
}
