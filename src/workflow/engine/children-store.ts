import {
  executionColumns,
  toStored,
  type ExecutionRow,
  type StoredExecution,
} from './journal/execution-row.ts';
import type { EngineSql } from './journal/journal-store.ts';

/** What executions started from within another came to, the newest first. */
export async function readChildren(sql: EngineSql, parentId: string): Promise<StoredExecution[]> {
  const rows = await sql.query<ExecutionRow>(
    `select ${executionColumns} from workflow.executions where parent_id = $1 order by id desc`,
    [parentId],
  );
  return rows.map(toStored);
}

/** Executions started from within one, or some by their own ids. */
export type ChildrenOf = { readonly parentId: string } | { readonly childIds: readonly string[] };

/**
 * Open executions that nobody waits for any more, with those around them: the node that started them was
 * cancelled, or the execution around them is over and that node had not ended. What a node only started,
 * and ended with that, is on its own.
 */
export async function readAbandonedChildren(
  sql: EngineSql,
  children: ChildrenOf,
): Promise<{ readonly id: string; readonly parentId: string }[]> {
  const [parentId, childIds] =
    'parentId' in children ? [children.parentId, null] : [null, children.childIds];
  return sql.query(
    `select e.id, e.parent_id as "parentId" from workflow.executions e
     join workflow.executions p on p.id = e.parent_id
     left join workflow.node_runs n on n.execution_id = e.parent_id
       and n.node_id = e.request::json->'parent'->>'nodeId'
       and n.iteration = e.request::json->'parent'->>'iteration'
     where ($1::text is null or e.parent_id = $1) and ($2::text[] is null or e.id = any($2))
       and e.completed_at is null
       and (n.status = 'cancelled' or (p.completed_at is not null
         and (n.status is null or n.status in ('waiting', 'signalled', 'open'))))`,
    [parentId, childIds],
  );
}
