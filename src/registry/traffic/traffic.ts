/** How a request through a connection ended. */
export type Outcome = 'success' | 'error';

/** A request that is running. */
export interface RunningRequest {
  /** Once; further calls have no effect. `error` is a failure of the server, never of the caller. */
  end(outcome: Outcome): void;
}

/** What went through a connection, measured. Latencies in milliseconds, rates as fractions 0..1. */
export interface TrafficFigures {
  readonly activeRequests: number;
  /** Of the last minute. */
  readonly requestsPerMinute: number;
  readonly totalRequests: number;
  readonly failedRequests: number;
  readonly averageLatency: number;
  readonly p95Latency: number;
}

/** Counts every request that the registry makes on somebody's behalf. Health checks are no traffic. */
export interface Traffic {
  /** `capability` is the tool's, prompt's or resource's own name at the server. */
  begin(connectionId: string, capability: string): RunningRequest;
  figures(connectionId: string): TrafficFigures;
}
