import {
  executionColumns,
  toStored,
  type ExecutionRow,
  type StoredExecution,
} from './journal/execution-row.ts';
import type { NodeBody } from './journal/journal-row.ts';
import type { EngineSql } from './journal/journal-store.ts';

/** A node that goes on waiting; with a body its row tells of what came of it before, and is set back to that. */
export interface KeptNode {
  readonly nodeId: string;
  readonly iteration: string;
  readonly body?: NodeBody;
}

/** Queues an ended execution again, less what did not finish in it; undefined when it cannot be. */
export async function reopenExecution(
  sql: EngineSql,
  executionId: string,
  {
    request,
    deadlineAtMs,
    sealedToken,
    kept,
  }: {
    readonly request: StoredExecution['request'];
    readonly deadlineAtMs: number | undefined;
    readonly sealedToken: string | undefined;
    readonly kept: readonly KeptNode[];
  },
): Promise<StoredExecution | undefined> {
  const rows = await sql.query<ExecutionRow>(
    `with opened as (
       update workflow.executions set status = 'queued', epoch = epoch + 1, resumes = resumes + 1,
         completed_at = null, outcome = null, tell_at = null, deadline_at = $2::timestamptz,
         caller_token = $4, request = $5
       where id = $1 and status in ('failed', 'cancelled') returning ${executionColumns}
     ), kept as (
       select * from json_to_recordset($3::json) as k(node_id text, iteration text, body text)
     ), set_back as (
       update workflow.node_runs n set status = 'waiting', output = null, body = kept.body from kept
       where n.execution_id in (select id from opened) and n.node_id = kept.node_id
         and n.iteration = kept.iteration and kept.body is not null
     ), gone as (
       delete from workflow.node_runs where execution_id in (select id from opened)
         and strpos(body, '"isDropped":true') = 0
         and status in ('failed', 'cancelled', 'waiting', 'signalled', 'open', 'skipped')
         and (node_id, iteration) not in (select node_id, iteration from kept)
     )
     select * from opened`,
    [
      executionId,
      deadlineAtMs === undefined ? null : new Date(deadlineAtMs),
      JSON.stringify(
        kept.map(({ nodeId, iteration, body }) => ({
          node_id: nodeId,
          iteration,
          body: body && JSON.stringify(body),
        })),
      ),
      sealedToken ?? null,
      JSON.stringify(request),
    ],
  );
  return rows[0] && toStored(rows[0]);
}
