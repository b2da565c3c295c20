import type { EngineSql } from './journal-store.ts';
import type { NodeBody, NodeEntry, NodeStatus } from './journal-row.ts';

interface NodeRow {
  readonly execution_id: string;
  readonly node_id: string;
  readonly iteration: string;
  readonly status: NodeStatus;
  readonly output: string | null;
  readonly body: string;
}

/** The journal of executions, by their ids, in no order. */
export async function readNodes(
  sql: EngineSql,
  executionIds: readonly string[],
): Promise<Map<string, NodeEntry[]>> {
  const rows = await sql.query<NodeRow>(
    `select execution_id, node_id, iteration, status, output, body from workflow.node_runs
     where execution_id = any($1::text[])`,
    [executionIds],
  );
  const byExecution = new Map<string, NodeEntry[]>(executionIds.map((id) => [id, []]));
  for (const row of rows) byExecution.get(row.execution_id)?.push(toEntry(row));
  return byExecution;
}

/** What the journal says of these nodes of one execution; those that it does not know are left out. */
export async function readNodesAt(
  sql: EngineSql,
  executionId: string,
  nodes: readonly { readonly nodeId: string; readonly iteration: string }[],
): Promise<NodeEntry[]> {
  const rows = await sql.query<NodeRow>(
    `select n.execution_id, n.node_id, n.iteration, n.status, n.output, n.body
     from workflow.node_runs n join unnest($2::text[], $3::text[]) as g(node_id, iteration)
       on g.node_id = n.node_id and g.iteration = n.iteration
     where n.execution_id = $1`,
    [executionId, nodes.map(({ nodeId }) => nodeId), nodes.map(({ iteration }) => iteration)],
  );
  return rows.map(toEntry);
}

/** Nodes that were answered while they were parked, with the number of answers that ever came. */
export async function readSignalled(
  sql: EngineSql,
  executionId: string,
): Promise<{ readonly signals: number; readonly nodes: readonly NodeEntry[] }> {
  const rows = await sql.query<{ signals: number } & (NodeRow | { readonly node_id: null })>(
    `select e.signals, n.execution_id, n.node_id, n.iteration, n.status, n.output, n.body
     from workflow.executions e left join workflow.node_runs n
       on n.execution_id = e.id and n.status = 'signalled'
     where e.id = $1`,
    [executionId],
  );
  return {
    signals: rows[0]?.signals ?? 0,
    nodes: rows.flatMap((row) => (row.node_id === null ? [] : [toEntry(row)])),
  };
}

/** Outputs of nodes by the keys of a list; those without one are left out. */
export async function readOutputs(
  sql: EngineSql,
  executionId: string,
  nodes: readonly { readonly nodeId: string; readonly iteration: string }[],
): Promise<{ nodeId: string; iteration: string; output: string }[]> {
  return sql.query(
    `select n.node_id as "nodeId", n.iteration, n.output from workflow.node_runs n
     join unnest($2::text[], $3::text[]) as g(node_id, iteration)
       on g.node_id = n.node_id and g.iteration = n.iteration
     where n.execution_id = $1 and n.output is not null`,
    [executionId, nodes.map(({ nodeId }) => nodeId), nodes.map(({ iteration }) => iteration)],
  );
}

/** Copies what nodes came to from one execution to another that is not there yet. */
export async function copyNodes(
  sql: EngineSql,
  {
    from,
    to,
    nodeIds,
  }: { readonly from: string; readonly to: string; readonly nodeIds: readonly string[] },
): Promise<void> {
  await sql.query(
    `insert into workflow.node_runs (execution_id, node_id, iteration, status, output, body, place)
     select $2, node_id, iteration, status, output, body, place from workflow.node_runs
     where execution_id = $1 and node_id = any($3::text[]) and status in ('completed', 'continued')`,
    [from, to, nodeIds],
  );
}

function toEntry(row: NodeRow): NodeEntry {
  return {
    nodeId: row.node_id,
    iteration: row.iteration,
    status: row.status,
    output: row.output ?? undefined,
    // Written by the journal.
    body: JSON.parse(row.body) as NodeBody,
  };
}
