import type { StoredExecution } from './execution-row.ts';
import { readChildren, reopenExecution } from './executions-store.ts';
import type { EngineSql } from './journal-store.ts';
import { readNodes } from './node-runs-store.ts';

/**
 * Queues an ended execution again; undefined when it cannot be. Nodes that wait for an execution within
 * go on waiting for it where it still runs or was completed.
 */
export async function reopenStored(
  sql: EngineSql,
  executionId: string,
  fresh: Pick<Parameters<typeof reopenExecution>[2], 'request' | 'deadlineAtMs' | 'sealedToken'>,
): Promise<StoredExecution | undefined> {
  const children = await readChildren(sql, executionId);
  const lost = new Set(['failed', 'cancelled']);
  const alive = new Set(children.flatMap(({ id, status }) => (lost.has(status) ? [] : [id])));
  const nodes = alive.size > 0 ? (await readNodes(sql, [executionId])).get(executionId) : undefined;
  const kept = (nodes ?? []).filter(({ status, body: { reason, detail } }) => {
    const isForChild = status === 'waiting' && reason === 'child';
    return isForChild && alive.has(String(detail?.executionId));
  });
  return reopenExecution(sql, executionId, { ...fresh, kept });
}
