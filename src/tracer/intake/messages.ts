import type { ExportFormat } from '../otlp/answers.ts';
import type { BaselineTable } from './baseline-table.ts';
import type { OpenListing, OpenQuery } from './open-listing.ts';
import type {
  Completion,
  LoadedTrace,
  Write,
  WrittenRevision,
  NamedChunks,
  AcceptedExport,
} from './writes.ts';

/** How the bytes of an export are to be read. */
export interface ExportForm {
  readonly format: ExportFormat;
  /** Its `Content-Encoding`. */
  readonly coding: string | undefined;
}

/** What the thread is started with. */
export interface IntakeSettings {
  /** A trace whose root has ended is complete when nothing came for so long. */
  readonly quietMs: number;
  /** A trace without a root is complete when nothing came for so long. */
  readonly partialMs: number;
  /** Largest export, inflated. */
  readonly exportBytesMax: number;
  /** Spans of open traces kept in memory; beyond it the oldest are completed early. */
  readonly openSpansMax: number;
  /**
   * Whether the rows of open traces are written only when somebody wants to read them, or after a while.
   * Then nobody else may write the same traces.
   */
  readonly owesRows: boolean;
}

/** What the main side posts. */
export type IntakeRequest =
  | {
      readonly kind: 'export';
      readonly id: number;
      readonly body: Uint8Array;
      readonly form: ExportForm;
    }
  | {
      readonly kind: 'written';
      /** The rows that were written with it. */
      readonly revisions: readonly WrittenRevision[];
      /** The numbers of its chunks, where their traces' rows are owed. */
      readonly chunks: readonly number[] | undefined;
      /** Of the write's new ids, those of traces that were complete before. */
      readonly lateIds: readonly string[];
    }
  | { readonly kind: 'write-failed' }
  | { readonly kind: 'completed' }
  | {
      readonly kind: 'not-completed';
      /** What is not as it was thought to be, and must be loaded; of a failure that passes, none. */
      readonly changed: readonly string[];
    }
  | {
      readonly kind: 'loaded';
      readonly traces: readonly LoadedTrace[];
      /** Compressed, by number. */
      readonly chunks: ReadonlyMap<number, Uint8Array>;
      /** Asked for and not there any more. */
      readonly gone: readonly string[];
    }
  | { readonly kind: 'not-loaded' }
  /** Somebody wants to read open traces. */
  | { readonly kind: 'read'; readonly id: number; readonly wanted: WantedTraces }
  /** The rows that were asked for are written; undefined where that failed. */
  | { readonly kind: 'rows-over'; readonly revisions: readonly WrittenRevision[] | undefined }
  /** Traces that are open in the database; those not known here are taken up. */
  | { readonly kind: 'adopt'; readonly traceIds: readonly string[] }
  | { readonly kind: 'baselines'; readonly table: BaselineTable };

/** One trace or all, which are to have rows; or a listing, of those that have none. */
export type WantedTraces = { readonly traceId: string } | 'all' | OpenQuery;

/** One statement's worth of rows that were owed. */
export interface OpenRows {
  /** JSON array of `OpenRow`s, each with its chunks. */
  readonly rows: string;
  readonly named: readonly NamedChunks[];
  readonly paidChunks: readonly number[];
}

/** A trace that will never be complete, and why. */
export interface UnfitTrace {
  readonly traceId: string;
  readonly reason: string;
}

/** What the thread posts. */
export type IntakeReply =
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Refusal }
  /** Nothing of it is to be stored. */
  | { readonly kind: 'accepted'; readonly answer: AcceptedExport }
  | { readonly kind: 'write'; readonly write: Write }
  | { readonly kind: 'complete'; readonly completion: Completion }
  | { readonly kind: 'rows'; readonly rows: OpenRows }
  /** What was to be read stands in rows, or, of what was to be listed, here. */
  | { readonly kind: 'settled'; readonly id: number; readonly listing: OpenListing | undefined }
  | { readonly kind: 'load'; readonly traceIds: readonly string[] }
  /** They are to be open no more. */
  | { readonly kind: 'abandon'; readonly traces: readonly UnfitTrace[] }
  | { readonly kind: 'state'; readonly openTraces: number; readonly openSpans: number };

/** A Fault as it crosses threads. */
export interface Refusal {
  readonly code: 'invalid' | 'too_large' | 'internal';
  readonly status: number;
  readonly reason: string | undefined;
  readonly message: string;
}
