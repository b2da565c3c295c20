/** What went wrong, named once. Every edge (HTTP, gRPC, GraphQL, sockets) maps from this table. */
export const codes = {
  invalid: { http: 400, grpc: 3, retryable: false },
  unauthenticated: { http: 401, grpc: 16, retryable: false },
  forbidden: { http: 403, grpc: 7, retryable: false },
  not_found: { http: 404, grpc: 5, retryable: false },
  conflict: { http: 409, grpc: 6, retryable: false },
  too_large: { http: 413, grpc: 3, retryable: false },
  exhausted: { http: 429, grpc: 8, retryable: true },
  cancelled: { http: 499, grpc: 1, retryable: false },
  deadline: { http: 504, grpc: 4, retryable: true },
  unavailable: { http: 503, grpc: 14, retryable: true },
  upstream: { http: 502, grpc: 14, retryable: true },
  unimplemented: { http: 501, grpc: 12, retryable: false },
  internal: { http: 500, grpc: 13, retryable: false },
} as const;

export type Code = keyof typeof codes;

export interface FaultOptions {
  /** The error behind this one. Logged, never sent. */
  readonly cause?: unknown;
  /** Data that is safe for the caller; each envelope decides where it goes. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** A finer name than the code, lower snake case: `agent_not_found`, `invalid_grant`. */
  readonly reason?: string;
  /** A finer HTTP status of the same class as the code's own, e.g. 405 or 415. */
  readonly status?: number;
  /** After how many seconds a repetition may succeed; becomes `Retry-After`. */
  readonly retryAfter?: number;
}

/**
 * The one error that a service throws on purpose.
 * `message` is a sentence that is safe for the caller; anything else that is thrown is our bug and
 * leaves as `internal`.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: Code;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly reason: string | undefined;
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(code: Code, message: string, options: FaultOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.detail = options.detail ?? {};
    this.reason = options.reason;
    this.status = options.status ?? codes[code].http;
    this.retryAfter = options.retryAfter;
  }

  /**
   * Any thrown value as a Fault. A Fault stays itself; an abort becomes `cancelled`, a timeout
   * `deadline`; all else becomes `internal` with the original as its cause.
   */
  static from(thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    const name = thrown instanceof Error ? thrown.name : '';
    if (name === 'AbortError')
      return new Fault('cancelled', 'the caller gave up', { cause: thrown });
    if (name === 'TimeoutError') return new Fault('deadline', 'out of time', { cause: thrown });
    return new Fault('internal', 'internal error', { cause: thrown });
  }

  /** The code that an HTTP status stands for; used by clients to read an answer of another service. */
  static codeOf(status: number): Code {
    const exact = codesByStatus.get(status);
    if (exact) return exact;
    return status >= 500 ? 'upstream' : 'invalid';
  }
}

/** Whether an error of Node.js or of a library carries this code, such as `ENOENT`. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

const codesByStatus = new Map<number, Code>(
  Object.entries(codes).map(([code, { http }]) => [http, code as Code]),
);
