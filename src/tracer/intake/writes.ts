import type { Additions } from '../series/series.ts';
import type { TraceStatus } from '../trace/analysis.ts';

/** One statement's worth of complete traces. */
export interface Completion {
  readonly number: number;
  readonly count: number;
  /** Their rows, as `completeRowColumns` makes them. */
  readonly columns: readonly string[];
  readonly traceIds: readonly string[];
  /** Of those that had owed rows. */
  readonly named: readonly NamedChunks[];
  /** Chunks that owe no row any more. */
  readonly paidChunks: readonly number[];
  /** Those that may belong to a trace of another day. */
  readonly doubtfulIds: readonly string[];
  readonly additions: Additions;
  readonly errors: readonly LoggedError[];
  /** Entries of the error log that are true no more: their traces changed. */
  readonly outdatedErrors: readonly LoggedPlace[];
  readonly events: readonly TraceEvent[];
}

/** A trace as the database knows it, with what was stored of it. */
export interface LoadedTrace {
  readonly traceId: string;
  readonly day: number;
  readonly receivedAt: number;
  /** How often its open row was written, and how often it was found complete. */
  readonly revision: number;
  readonly completions: number;
  /** In the order in which they were stored. */
  readonly chunks: readonly number[];
  /** How many of the chunks the series have counted. */
  readonly countedChunks: number;
}

/** One statement's worth of new spans. */
export interface Write {
  readonly number: number;
  readonly day: number;
  /** The bodies of its chunks, one after the other. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly chunks: readonly WrittenChunk[];
  /** JSON array of `OpenRow`s; undefined where they are owed. */
  readonly rows: string | undefined;
  /** Traces of which nobody knows yet whether they were complete before. */
  readonly newIds: readonly string[];
  /** Those of them that may have been complete on any day, not only on this one or the last. */
  readonly doubtfulIds: readonly string[];
  readonly exports: readonly AcceptedExport[];
  readonly spanCount: number;
}

/** A chunk of a write. */
export interface WrittenChunk {
  /** Of its body. */
  readonly bytes: number;
  /** All whose spans it holds. */
  readonly traceIds: readonly string[];
}

/** The revision that a written row has now. */
export interface WrittenRevision {
  readonly traceId: string;
  readonly revision: number;
  /** It is new here, and belongs to a trace that was complete before. */
  readonly isLate: boolean;
}

/** Chunks that a row of a trace names from now on. */
export interface NamedChunks {
  readonly traceId: string;
  readonly chunks: readonly number[];
}

export interface AcceptedExport {
  readonly id: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Why some were rejected. */
  readonly reason: string | undefined;
}

/** Where a trace stands in the error log. */
export interface LoggedPlace {
  readonly traceId: string;
  /** When it started. */
  readonly atMs: number;
}

/** An entry of the error log. */
export interface LoggedError extends LoggedPlace {
  readonly spanId: string;
  readonly code: string;
  readonly message: string;
  readonly agent: string;
  readonly name: string;
  readonly service: string;
}

/** What is told to the world of a trace that is complete. */
export interface TraceEvent {
  readonly traceId: string;
  readonly name: string;
  readonly startMs: number;
  readonly durationMs: number;
  readonly status: TraceStatus;
  readonly spans: number;
  readonly bottlenecks: number;
  readonly agents: readonly string[];
  readonly agent: string;
  /** False when it was told before and has changed since. */
  readonly isFirst: boolean;
}
