import type { FailureKind, UpstreamFailure } from './failure.ts';

/** Thrown where an attempt fails; it never reaches a caller as it is. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }

  /** For a failure of which nothing more is known. */
  static of(kind: FailureKind, message: string, options?: ErrorOptions): UpstreamError {
    return new UpstreamError({ kind, message }, options);
  }
}
