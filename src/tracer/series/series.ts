/** What is counted over time, each with its labels in this order. */
export interface SeriesLabels {
  /** Traces, with their durations, by one label each: combinations of them would be many. */
  readonly traceName: readonly [name: string];
  readonly traceAgent: readonly [agent: string];
  readonly traceStatus: readonly [status: string];
  /** Spans of an operation, with their durations. */
  readonly operation: readonly [service: string, name: string, kind: string];
  /** The same spans with their self times. */
  readonly self: readonly [service: string, name: string, kind: string];
  /** Calls between services or to something outside, with the callee's durations. */
  readonly edge: readonly [from: string, to: string, type: string];
  /** Requests that a service handled, or something outside it. */
  readonly service: readonly [service: string, type: string];
  /** Failed traces by their error. */
  readonly error: readonly [code: string, agent: string];
  /** Calls of a model; the sum is tokens. */
  readonly inputTokens: readonly [agent: string, provider: string, model: string];
  readonly outputTokens: readonly [agent: string, provider: string, model: string];
  /** Calls of a model; the sum is millionths of a US dollar. */
  readonly cost: readonly [agent: string, provider: string, model: string];
}

export type SeriesKind = keyof SeriesLabels;

/** The kinds as blocks of cells number them: blocks depend on the order, so new ones come last. */
export const seriesKinds: readonly SeriesKind[] = [
  'traceName',
  'traceAgent',
  'traceStatus',
  'operation',
  'self',
  'edge',
  'service',
  'error',
  'inputTokens',
  'outputTokens',
  'cost',
];

/** One addition to a series. */
export interface Sample {
  readonly kind: SeriesKind;
  readonly labels: readonly string[];
  /** Microseconds since the epoch: decides the cell. */
  readonly atUs: number;
  readonly isError: boolean;
  /** Added to the sum: microseconds, tokens or millionths of a dollar. */
  readonly amount: number;
  /** Whether the amount is a duration that percentiles are asked of. */
  readonly isDuration: boolean;
}

/** How wide the cells of a level are. */
export type Level = 'minute' | 'hour' | 'day';

export interface SeriesColumns {
  /** A hash of kind and labels, below 2^53. */
  readonly ids: readonly number[];
  readonly kinds: readonly SeriesKind[];
  /** Each a JSON array of texts. */
  readonly labels: readonly string[];
}

/** What a change adds to the series, ready for the database; it can be posted between threads. */
export interface Additions {
  /** Series that this process has not written before. */
  readonly series: SeriesColumns;
  /** A row of the log of cells, packed; empty where nothing was added. Counts may be negative. */
  readonly cells: Uint8Array;
}
