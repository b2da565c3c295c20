import type { Span } from '../trace/span.ts';

/** A trace as it is read: every span that was stored of it, each once, by start. */
export interface StoredTrace {
  readonly traceId: string;
  readonly spans: readonly Span[];
  /** False while spans may still come. */
  readonly isComplete: boolean;
  /** How often it changed after it was complete; 1 when it never did. */
  readonly revision: number;
  /** The exports that hold its spans, and others', as protobuf. */
  readonly bodies: readonly Uint8Array[];
}

/**
 * Says something of a stored trace as a JSON value. Views run in the reading thread, away from the
 * event loop, so they take and answer plain values only.
 */
export type View<Input> = (trace: StoredTrace, input: Input) => unknown;
