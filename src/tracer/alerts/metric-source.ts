/** Which traces are looked at, by when they started. Times are microseconds since the epoch. */
export interface MetricRange {
  /** To the microsecond. */
  readonly fromUs: number;
  /** Exclusive, on a whole minute. */
  readonly toUs: number;
  /** Only traces whose root is this agent's. */
  readonly agent?: string | undefined;
  /** Only traces of this name. */
  readonly operation?: string | undefined;
}

/** A range that begins on a whole minute, in steps. */
export interface SeriesRange extends MetricRange {
  readonly stepMinutes: number;
  /** Only what started in the last so many seconds of each minute. */
  readonly tailSeconds?: number;
}

/** Traces that started within a range; durations in microseconds. */
export interface MetricWindow {
  readonly count: number;
  /** Of them, those that failed, also by a timeout. */
  readonly errors: number;
  readonly sumUs: number;
  /** Asked only where `count` is above 0; `q` is 0..1. */
  quantileUs(q: number): number;
}

/** A part of a range, `stepMinutes` long. */
export interface MetricStep {
  readonly startUs: number;
  readonly count: number;
  readonly errors: number;
  readonly sumUs: number;
  /** Bins of `series/histogram.ts` (microseconds), and how many lie in the bin of the same place. */
  readonly bins: readonly number[];
  readonly binCounts: readonly number[];
}

/** Which traces explain a value best. */
export type ExampleOrder = 'failed' | 'slowest' | 'latest';

/**
 * What alerts are decided by: a trace counts once it is complete, at the time at which it started. Of
 * a minute that is not wholly inside and holds more than 10,000 traces its share may be told.
 */
export interface AlertMetrics {
  window(range: MetricRange): Promise<MetricWindow>;
  /**
   * The range in steps that begin at `fromUs`, by time. Steps without traces may be left out; a step
   * may come in several parts.
   */
  series(range: SeriesRange): Promise<readonly MetricStep[]>;
  /** Ids of traces of the range, the best first; messages name none where this is absent. */
  readonly examples?: (
    range: MetricRange & { readonly order: ExampleOrder; readonly limit: number },
  ) => Promise<readonly string[]>;
}
