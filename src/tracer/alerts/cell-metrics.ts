import { keptMinutes, usPerMinute } from '../series/cells.ts';
import { Histogram } from '../series/histogram.ts';
import type { SeriesSql } from '../series/stats-store.ts';
import { readTraceSteps, readTraceSums, type TraceQuery } from '../series/windows-store.ts';
import { findExamples } from './example-store.ts';
import type { AlertMetrics, MetricRange, MetricStep, MetricWindow } from './metric-source.ts';

export interface CellMetricsOptions {
  readonly sql: SeriesSql;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** No statement looks at more, so that others get in between and each reads minutes only. */
const statementMinutes = 1_440;

/** What alerts are decided by, from the cells of the time series. */
export class CellMetrics implements AlertMetrics {
  readonly #options: CellMetricsOptions;

  constructor(options: CellMetricsOptions) {
    this.#options = options;
  }

  async window(range: MetricRange): Promise<MetricWindow> {
    const sums = await readTraceSums(this.#options.sql, this.#queryOf(range));
    const { count, errors, sum: sumUs, bins, binCounts } = sums;
    const histogram = Histogram.of(bins.map((bin, at) => [bin, binCounts[at] ?? 0]));
    return { count, errors, sumUs, quantileUs: (q) => histogram.quantile(q) ?? 0 };
  }

  async series(
    range: MetricRange & { readonly stepMinutes: number },
  ): Promise<readonly MetricStep[]> {
    const { stepMinutes } = range;
    const query = this.#queryOf(range);
    // Of what is older there are no minutes; whole steps of it are left out.
    const missing = query.nowMs / 60_000 - keptMinutes.minute - query.from;
    const start = query.from + Math.max(0, Math.ceil(missing / stepMinutes)) * stepMinutes;
    const width = Math.ceil(statementMinutes / stepMinutes) * stepMinutes;
    const found: MetricStep[] = [];
    for (let from = start; from < query.to; from += width) {
      const part = { ...query, from, to: Math.min(from + width, query.to), stepMinutes };
      const steps = await readTraceSteps(this.#options.sql, part);
      for (const { minute, sum: sumUs, ...step } of steps) {
        found.push({ ...step, sumUs, startUs: minute * usPerMinute });
      }
    }
    return found;
  }

  readonly examples: NonNullable<AlertMetrics['examples']> = (query) =>
    findExamples(this.#options.sql, query);

  #queryOf({ fromUs, toUs, agent, operation }: MetricRange): TraceQuery {
    const [from, to] = [Math.floor(fromUs / usPerMinute), Math.ceil(toUs / usPerMinute)];
    return { from, to, agent, name: operation, nowMs: this.#options.now() };
  }
}
