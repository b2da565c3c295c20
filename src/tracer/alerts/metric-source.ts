/** Which traces are looked at. Times are microseconds since the epoch, on whole minutes. */
export interface MetricRange {
  readonly fromUs: number;
  /** Exclusive. */
  readonly toUs: number;
  /** Only traces whose root is this agent's. */
  readonly agent?: string | undefined;
  /** Only traces of this name. */
  readonly operation?: string | undefined;
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
 * What alerts are decided by: traces counted by minute, so that a trace counts once it is complete,
 * in the minute in which it started.
 */
export interface AlertMetrics {
  window(range: MetricRange): Promise<MetricWindow>;
  /**
   * The range in steps that begin at `fromUs`, by time. Steps without traces may be left out; a step
   * may come in several parts.
   */
  series(range: MetricRange & { readonly stepMinutes: number }): Promise<readonly MetricStep[]>;
  /** Ids of traces of the range, the best first; messages name none where this is absent. */
  readonly examples?: (
    range: MetricRange & { readonly order: ExampleOrder; readonly limit: number },
  ) => Promise<readonly string[]>;
}
