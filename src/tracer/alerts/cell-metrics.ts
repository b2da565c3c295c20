import { keptMinutes, usPerMinute } from '../series/cells.ts';
import { Histogram } from '../series/histogram.ts';
import type { SeriesSql } from '../series/tables.ts';
import { readTraceSteps, readTraceSums } from '../metrics/windows.ts';
import { findExamples } from './example-store.ts';
import type {
  AlertMetrics,
  MetricRange,
  MetricStep,
  MetricWindow,
  SeriesRange,
} from './metric-source.ts';

export interface CellMetricsOptions {
  readonly sql: SeriesSql;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** No statement looks at more, so that others get in between and each reads minutes only. */
const statementMinutes = 1_440;
/** Of parts of minutes each reads traces. */
const tailStatementMinutes = 10;

/** What alerts are decided by, from the cells of the time series, and of parts of minutes from traces. */
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

  async series(range: SeriesRange): Promise<readonly MetricStep[]> {
    const { stepMinutes, tailSeconds } = range;
    const { fromUs, ...query } = this.#queryOf(range);
    const asked = Math.floor(fromUs / usPerMinute);
    // Of what is older there are no minutes; whole steps of it are left out.
    const missing = query.nowMs / 60_000 - keptMinutes.minute - asked;
    const start = asked + Math.max(0, Math.ceil(missing / stepMinutes)) * stepMinutes;
    const widthMin = tailSeconds === undefined ? statementMinutes : tailStatementMinutes;
    const width = Math.ceil(widthMin / stepMinutes) * stepMinutes;
    const found: MetricStep[] = [];
    for (let from = start; from < query.to; from += width) {
      const part = { ...query, from, to: Math.min(from + width, query.to) };
      const steps = await readTraceSteps(this.#options.sql, { ...part, stepMinutes, tailSeconds });
      for (const { minute, sum: sumUs, ...step } of steps) {
        found.push({ ...step, sumUs, startUs: minute * usPerMinute });
      }
    }
    return found;
  }

  readonly examples: NonNullable<AlertMetrics['examples']> = (query) =>
    findExamples(this.#options.sql, query);

  #queryOf({ fromUs, toUs, agent, operation }: MetricRange) {
    const to = Math.ceil(toUs / usPerMinute);
    return { fromUs, to, agent, name: operation, nowMs: this.#options.now() };
  }
}
