import type { Json } from './json.ts';

/**
 * What went wrong with one attempt, which decides what comes next:
 * - `rejected`: the provider says that the request is wrong; nobody else is asked
 * - `too-long`: the prompt does not fit; a model with more room may be asked
 * - `limited`: too many requests or tokens; somebody else now, or here later
 * - `refused`: the key is not good, not paid for, or may not use the model
 * - `missing`: the provider has no such model
 * - `broken`: an error of the provider's own, or an answer that makes no sense
 * - `unreachable`: no connection, or it was lost before the answer
 * - `late`: no first token, no further token, or no end in time
 * - `truncated`: the answer was cut off
 * - `encoded`: the answer is compressed, though that was not asked for
 * - `oversized`: the answer is larger than the gateway takes; somebody else's may be smaller
 * - `untranslatable`: the answer holds what the caller's API has no words for; nobody is to blame
 * - `filtered`: the provider's own policy forbids the request
 */
export type FailureKind =
  | 'rejected'
  | 'too-long'
  | 'limited'
  | 'refused'
  | 'missing'
  | 'broken'
  | 'unreachable'
  | 'late'
  | 'truncated'
  | 'encoded'
  | 'oversized'
  | 'untranslatable'
  | 'filtered';

/** A failed attempt. */
export interface UpstreamFailure {
  readonly kind: FailureKind;
  /**
   * One sentence for the caller: ours, or the provider's own. What a dialect reads may quote keys;
   * what an attempt fails with has them cut out.
   */
  readonly message: string;
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  /** The field that the provider complains of, in its own words. */
  readonly param?: string | undefined;
  /** The provider's own name of the error. */
  readonly code?: string | undefined;
  /** What else the provider says of it, for programs to read: Anthropic's `error.details`. */
  readonly details?: Json | undefined;
  /** When the provider says that a repetition may succeed. */
  readonly retryAfterMs?: number | undefined;
}

/** An error answer, or an error inside a stream, as it came. */
export interface ErrorAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Its body, parsed where it is JSON; else its text. */
  readonly body: unknown;
}
