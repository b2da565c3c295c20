import type { WorkflowSql } from './workflow-store.ts';

/** How often templates were used, by their ids; those never used are not there. */
export async function readTemplateUses(sql: WorkflowSql): Promise<Map<string, number>> {
  const rows = await sql.query<{ template_id: string; count: number }>(
    'select template_id, count from workflow.template_uses',
  );
  return new Map(rows.map((row) => [row.template_id, row.count]));
}

/** One more. */
export async function countTemplateUse(sql: WorkflowSql, templateId: string): Promise<void> {
  await sql.query(
    `insert into workflow.template_uses as u (template_id, count) values ($1, 1)
     on conflict (template_id) do update set count = u.count + 1`,
    [templateId],
  );
}

/** A workflow that may be run, by its name. */
export interface ActiveName {
  readonly id: string;
  readonly name: string;
  /** Since when it is active under this name. */
  readonly namedAt: Date;
}

/** Of all active workflows that are stored. */
export async function readActiveNames(sql: WorkflowSql): Promise<ActiveName[]> {
  const rows = await sql.query<{ id: string; name: string; named_at: Date }>(
    `select id, name, named_at from workflow.workflows where status = 'active'`,
  );
  return rows.map((row) => ({ id: row.id, name: row.name, namedAt: row.named_at }));
}

/**
 * Milliseconds that the last completed executions of workflows took on average, by workflow; those
 * without one are not there.
 */
export async function readMeasuredTimes(
  sql: WorkflowSql,
  workflowIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; ms: number }>(
    `select w.id, avg(e.ms)::float8 as ms
     from unnest($1::text[]) as w(id)
     cross join lateral (
       select extract(epoch from completed_at - started_at) * 1000 as ms from workflow.executions
       where workflow_id = w.id and status = 'completed' and cause <> 'test'
       order by id desc limit 20) e
     group by w.id`,
    [[...workflowIds]],
  );
  return new Map(rows.map(({ id, ms }) => [id, Math.round(ms)]));
}

export interface ExecutionCounts {
  readonly active: number;
  readonly queued: number;
  readonly totalToday: number;
}

/** Executions now, and those that were started since a time. */
export async function countExecutions(sql: WorkflowSql, since: Date): Promise<ExecutionCounts> {
  const [row] = await sql.query<ExecutionCounts>(
    `select open.active, open.queued, today.total as "totalToday"
     from (
       select count(*) filter (where status <> 'queued')::integer as active,
         count(*) filter (where status = 'queued')::integer as queued
       from workflow.executions where completed_at is null) open,
       (select count(*)::integer as total from workflow.executions where id >= $1) today`,
    // Their ids begin with the millisecond in which they were made.
    [`exe_${since.getTime().toString(16).padStart(12, '0')}`],
  );
  return row ?? { active: 0, queued: 0, totalToday: 0 };
}
