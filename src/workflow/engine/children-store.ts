import {
  executionColumns,
  toStored,
  type ExecutionRow,
  type StoredExecution,
} from './execution-row.ts';
import type { EngineSql } from './journal-store.ts';

/** What executions started from within another came to, the newest first. */
export async function readChildren(sql: EngineSql, parentId: string): Promise<StoredExecution[]> {
  const rows = await sql.query<ExecutionRow>(
    `select ${executionColumns} from workflow.executions where parent_id = $1 order by id desc`,
    [parentId],
  );
  return rows.map(toStored);
}

/** Open executions for which cancelled nodes of another one waited; what they only started is on its own. */
export async function readAbandonedChildren(sql: EngineSql, parentId: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select e.id from workflow.executions e join workflow.node_runs n
       on n.execution_id = e.parent_id and n.status = 'cancelled'
         and n.node_id = e.request::json->'parent'->>'nodeId'
         and n.iteration = e.request::json->'parent'->>'iteration'
     where e.parent_id = $1 and e.completed_at is null`,
    [parentId],
  );
  return rows.map(({ id }) => id);
}
