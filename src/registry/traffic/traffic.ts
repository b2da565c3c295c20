/**
 * How a request through a connection ended. `error` is a failure of the server; `refused`: the server
 * answered that it will not; `cancelled`: the caller gave up.
 */
export type Outcome = 'success' | 'error' | 'refused' | 'cancelled';

/** True for what says neither that the server works nor that it fails. */
export function isInconclusive(outcome: Outcome): boolean {
  return outcome === 'refused' || outcome === 'cancelled';
}

/** A request that is running. */
export interface RunningRequest {
  /** Once; further calls have no effect. */
  end(outcome: Outcome): void;
}

/** What went through a connection, measured. Latencies in milliseconds, rates as fractions 0..1. */
export interface TrafficFigures {
  readonly activeRequests: number;
  /** Of the last minute. */
  readonly requestsPerMinute: number;
  readonly totalRequests: number;
  readonly failedRequests: number;
  /** That the server refused or the caller gave up. */
  readonly inconclusiveRequests: number;
  readonly averageLatency: number;
  readonly p95Latency: number;
}

/** Counts every request that the registry makes on somebody's behalf. Health checks are no traffic. */
export interface Traffic {
  /** `capability` is the tool's own name at the server; what is no tool counts for the connection only. */
  begin(connectionId: string, capability?: string): RunningRequest;
  figures(connectionId: string): TrafficFigures;
}
