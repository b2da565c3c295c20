import type { FailureKind } from '../dialects/failure.ts';
import type { Target } from '../providers/provider.ts';

/** How a target does, measured from its real traffic and probes. Read at every routing. */
export interface Standing {
  /** Requests on their way now. */
  readonly inFlight: number;
  /** Milliseconds to the first piece of an answer; undefined before the first one. */
  readonly firstTokenMs: number | undefined;
  /** Output tokens a second of one answer, after its first piece; undefined before the first one. */
  readonly tokensPerSecond: number | undefined;
  /** Milliseconds of a whole answer; undefined before the first one. */
  readonly latencyMs: number | undefined;
  /** Share of the recent attempts that did not fail through the provider's fault, 0..1; 1 before any. */
  readonly availability: number;
  /** Attempts that ended within the last five minutes; `availability` is theirs. */
  readonly recentAttempts: number;
  /** Over the last 60 seconds. */
  readonly requestsPerMinute: number;
  readonly circuit: 'closed' | 'open' | 'half-open';
  /** Milliseconds until it may be asked again; 0: now. Covers an open circuit and every limit. */
  readonly waitMs: number;
  /** Why it cannot be asked now; undefined when it can. */
  readonly closedBecause: 'circuit' | 'rate-limit' | undefined;
  /** How the provider failed last. */
  readonly lastFailure: FailureKind | undefined;
}

/** How every target stands. */
export interface Standings {
  of(target: Target): Standing;
}
