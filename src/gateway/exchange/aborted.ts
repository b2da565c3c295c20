import type { Bill } from './bill.ts';
import type { Course } from './course.ts';

/** Where a request is written down. */
export interface Books {
  readonly bill: Bill;
  readonly course: Course;
}

/** A provider that was asked has read the prompt, whether anybody waits for its answer or not. */
export function closeAborted({ bill, course }: Books, inputTokens: number): void {
  if (!course.target) return;
  const usage = { inputTokens, outputTokens: 0, isEstimated: true };
  bill.close({ target: course.target, usage, outcome: 'aborted' });
  course.count();
}
