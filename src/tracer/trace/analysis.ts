import type { SpanHead } from './span.ts';

export type TraceStatus = 'success' | 'error' | 'timeout';

/** What a listing says of a trace. Times are microseconds since the epoch. */
export interface TraceSummary {
  /** The root's name; of several roots the longest's, of none the earliest span's. */
  readonly name: string;
  readonly service: string;
  readonly agent: string;
  readonly rootSpanId: string;
  /** Of the root, or of all spans together where there is none or they outlast it. */
  readonly startUs: number;
  readonly endUs: number;
  readonly status: TraceStatus;
  readonly spanCount: number;
  readonly errorCount: number;
  /** Without repetition, the root's first. */
  readonly agents: readonly string[];
  readonly services: readonly string[];
  /** No root has come: every span names a parent that is not there. */
  readonly isPartial: boolean;
  /** The deepest failing span, of a trace that failed. */
  readonly error: TraceError | undefined;
}

export interface TraceError {
  readonly code: string;
  readonly message: string;
  readonly spanId: string;
  readonly agent: string;
}

/** Where a trace's time went, in microseconds; the three add up to `totalUs` exactly. */
export interface TimeSplit {
  readonly totalUs: number;
  readonly networkUs: number;
  readonly processingUs: number;
  readonly overheadUs: number;
}

export interface AnalysedSpan {
  readonly head: SpanHead;
  readonly parent: SpanHead | undefined;
  /** Its duration without what its children cover (the union of their intervals, clipped to it). */
  readonly selfUs: number;
  /** A request that its service handled: no parent, or one of another service, or kind server or consumer. */
  readonly isEntry: boolean;
  /** A client or producer span below which no other service answered. */
  readonly isExternalCall: boolean;
}

/** Everything that is found out about a trace when it is complete. */
export interface TraceAnalysis {
  readonly summary: TraceSummary;
  readonly split: TimeSplit;
  /** Each span once. */
  readonly spans: readonly AnalysedSpan[];
}

/** Quartiles of what an operation took lately, in microseconds. */
export interface Quartiles {
  readonly count: number;
  readonly p25Us: number;
  readonly p50Us: number;
  readonly p75Us: number;
}

/** An operation's own history; absent where there are fewer than 30 spans of it. */
export interface Baseline {
  readonly duration: Quartiles;
  readonly self: Quartiles;
}

/** Finds the history of the operation of a span. */
export type BaselineOf = (operation: {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
}) => Baseline | undefined;
