import type { Cancellation } from '../../../kit/cancellation.ts';
import type { Usage } from '../../conversation/answer.ts';
import type { FailureKind } from '../../dialects/failure.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { Attempt } from './attempt-span.ts';
import type { Bill } from '../bill.ts';
import type { Course } from '../course.ts';

/** Where a request is written down. */
export interface Books {
  readonly bill: Bill;
  readonly course: Course;
}

/** An attempt whose request was sent, and that brought no answer. */
export interface LostAttempt {
  readonly attempt: Pick<Attempt, 'target' | 'cancellation'>;
  readonly error: unknown;
  /** The provider's own count where it gave one, else ours of the prompt. */
  readonly usage: Usage;
}

/** Where nobody said no: the provider read the prompt, and may have written what never came. */
const atWork = new Set<FailureKind>(['late', 'truncated', 'oversized', 'untranslatable']);

/**
 * Writes down what a provider took that was asked in vain. When its caller has left, that is how the
 * request ended; else it stands beside whoever answers. A refusal, or no connection, costs nothing.
 */
export function billLost(
  { bill, course }: Books,
  caller: Cancellation,
  { attempt, error, usage }: LostAttempt,
): void {
  const { target, cancellation } = attempt;
  if (caller.isCancelled) {
    bill.close({ target, usage, outcome: 'aborted' });
    course.count();
  } else if (cancellation.isCancelled) bill.add({ target, usage, outcome: 'aborted' });
  else if (!usage.isEstimated || wasAtWork(error)) bill.add({ target, usage, outcome: 'failed' });
}

/** A failure with a status is the provider's own word: it gave up, and asks nothing for it. */
function wasAtWork(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  return error.failure.status === undefined && atWork.has(error.failure.kind);
}
