import type { Answer } from '../../api/contracts.ts';

/** One workflow, run for many inputs. */
export type Batch = Answer<'workflow', 'GET /api/v1/batches/:batchId'>;

/** One of the inputs, and what came of it. */
export type BatchItem = Answer<'workflow', 'GET /api/v1/batches/:batchId/items'>['items'][number];

export const batchStatuses = [
  'processing',
  'cancelling',
  'completed',
  'cancelled',
] as const satisfies readonly Batch['status'][];

export const itemStatuses = [
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const satisfies readonly BatchItem['status'][];

/** Whether nothing more happens to it by itself. */
export function isOver({ status }: Batch): boolean {
  return status === 'completed' || status === 'cancelled';
}

/** How many items ended without being completed: they can be run again. */
export function leftCount({ progress: { failed, cancelled, skipped } }: Batch): number {
  return failed + cancelled + skipped;
}
