import type { Batch, BatchItem } from './batch.ts';

/** How a batch stands, as routes and callbacks tell it. */
export function toBatchAnswer(batch: Batch, monitorUrl: string) {
  const { total, completed, failed, cancelled, skipped, completedAt } = batch;
  const endMs = completedAt?.getTime();
  return {
    batchId: batch.id,
    workflowId: batch.workflowId,
    version: batch.version,
    status: batch.status,
    totalItems: total,
    progress: {
      completed,
      failed,
      pending: total - completed - failed - cancelled - skipped,
      cancelled,
      skipped,
    },
    options: { concurrency: batch.concurrency, failureMode: batch.failureMode },
    tokensUsed: batch.tokensUsed,
    cost: batch.cost,
    createdAt: batch.createdAt.toISOString(),
    ...(completedAt === undefined || endMs === undefined
      ? {}
      : { completedAt: completedAt.toISOString(), duration: endMs - batch.createdAt.getTime() }),
    monitorUrl,
  };
}

/** One item of a batch, as the listing tells it. */
export function toItemAnswer({ index, status, executionId, error, endedAt }: BatchItem) {
  return {
    index,
    status,
    ...(executionId === undefined ? {} : { executionId }),
    ...(error === undefined ? {} : { error }),
    ...(endedAt === undefined ? {} : { completedAt: endedAt.toISOString() }),
  };
}
