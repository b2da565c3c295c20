import type { FlowTest } from './flow-test.ts';
import type { WorkflowSql } from './workflow-store.ts';

/** None when nothing was written. */
export async function readTests(
  sql: WorkflowSql,
  workflowId: string,
): Promise<readonly FlowTest[]> {
  const [row] = await sql.query<{ tests: string }>(
    'select tests from workflow.flow_tests where workflow_id = $1',
    [workflowId],
  );
  // Written below.
  return row ? (JSON.parse(row.tests) as FlowTest[]) : [];
}

/** In place of what was there. */
export async function writeTests(
  sql: WorkflowSql,
  workflowId: string,
  tests: readonly FlowTest[],
): Promise<void> {
  await sql.query(
    `insert into workflow.flow_tests (workflow_id, tests, updated_at) values ($1, $2, now())
     on conflict (workflow_id) do update set tests = excluded.tests,
       updated_at = excluded.updated_at`,
    [workflowId, JSON.stringify(tests)],
  );
}
