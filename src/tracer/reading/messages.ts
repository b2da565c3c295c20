import type { PairViewName, ViewName } from './views.ts';

/** A trace as the main side found it, to be read by the thread. */
export interface FoundTrace {
  readonly traceId: string;
  readonly isComplete: boolean;
  readonly revision: number;
  /** Compressed chunks that hold its spans, and others'. */
  readonly chunks: readonly Uint8Array[];
}

/** What is to be said of one trace, or of two. */
export type Asked =
  | { readonly view: ViewName; readonly input: unknown }
  | { readonly pair: PairViewName };

/** What the main side posts. */
export interface ReadRequest {
  readonly id: number;
  readonly asked: Asked;
  readonly traces: readonly FoundTrace[];
}

/** What the thread posts: the view's JSON, or why there is none. */
export type ReadReply =
  | { readonly id: number; readonly json: Uint8Array }
  | { readonly id: number; readonly refusal: ReadRefusal };

/** A Fault as it crosses threads. */
export interface ReadRefusal {
  readonly code: 'invalid' | 'not_found' | 'internal';
  readonly reason: string | undefined;
  readonly message: string;
}
