import type { EngineSql } from './journal-store.ts';
import type { NodeStatus } from './journal-row.ts';

/** Which rows of an execution are meant. */
export interface NodeRowFilter {
  readonly nodeId?: string | undefined;
  readonly iteration?: string | undefined;
  readonly statuses?: readonly NodeStatus[] | undefined;
}

/** One node of an execution, without what it came to. */
export interface NodePlace {
  readonly nodeId: string;
  readonly iteration: string;
  readonly startedAtMs: number;
  /** Bytes of its output. */
  readonly size: number;
}

const matches = `execution_id = $1 and ($2::text is null or node_id = $2)
  and ($3::text is null or iteration = $3) and ($4::text[] is null or status = any($4))`;

function valuesOf(executionId: string, { nodeId, iteration, statuses }: NodeRowFilter): unknown[] {
  return [executionId, nodeId ?? null, iteration ?? null, statuses ?? null];
}

export async function countNodes(
  sql: EngineSql,
  executionId: string,
  filter: NodeRowFilter,
): Promise<number> {
  const [row] = await sql.query<{ total: number }>(
    `select count(*) as total from workflow.node_runs where ${matches}`,
    valuesOf(executionId, filter),
  );
  return row?.total ?? 0;
}

/** In the order of their start; without a limit all behind the offset. */
export async function readNodePlaces(
  sql: EngineSql,
  executionId: string,
  {
    filter,
    offset,
    limit,
  }: { readonly filter: NodeRowFilter; readonly offset: number; readonly limit?: number },
): Promise<NodePlace[]> {
  return sql.query(
    `select node_id as "nodeId", iteration, size,
       (body::json->>'startedAtMs')::double precision as "startedAtMs"
     from (select node_id, iteration, body, place, coalesce(octet_length(output), 0) as size
       from workflow.node_runs where ${matches} order by place offset $5 limit $6) p
     order by place`,
    [...valuesOf(executionId, filter), offset, limit ?? null],
  );
}
