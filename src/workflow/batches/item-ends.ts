import type { Fault } from '../../kit/errors.ts';
import type { Execution } from '../engine/execution.ts';
import type { Batch, ItemEnd } from './batch.ts';

/** Whether an end stops the whole batch. */
export function isFatal({ failureMode }: Batch): (end: ItemEnd) => boolean {
  return ({ status }) => failureMode === 'stop' && status === 'failed';
}

/** Whether nothing more comes of an execution by itself. */
export function hasEnded({ status }: Execution): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether it may be better in a moment; it says nothing of the item. */
export function isPassing({ code }: Fault): boolean {
  return (
    code === 'unavailable' || code === 'exhausted' || code === 'deadline' || code === 'cancelled'
  );
}

/** What an execution that ended means for its item. */
export function toEnd(index: number, execution: Execution): ItemEnd {
  const { id, status, error, tokensUsed, cost } = execution;
  const own = { index, executionId: id, tokensUsed, cost };
  if (status === 'completed') return { ...own, status, error: undefined };
  return { ...own, status: status === 'cancelled' ? 'cancelled' : 'failed', error };
}
