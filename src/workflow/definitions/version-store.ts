import type { Flow } from '../flow/flow.ts';
import type { Complexity, WorkflowStatus, WorkflowVersion } from './workflow.ts';
import type { Page, WorkflowSql } from './workflow-store.ts';

interface VersionRow {
  readonly workflow_id: string;
  readonly version: number;
  readonly components: number;
  readonly complexity: Complexity;
  readonly typical_ms: number;
  readonly created_by: string;
  readonly created_at: Date;
  readonly published_at: Date | null;
}

const columns = `workflow_id, version, components, complexity, typical_ms, created_by, created_at,
  published_at`;

export interface VersionPage extends Page {
  /** With the drafts. */
  readonly isWhole: boolean;
}

/** Newest first, with the number of all. */
export async function listVersions(
  sql: WorkflowSql,
  workflowId: string,
  { limit, offset, isWhole }: VersionPage,
): Promise<{ readonly versions: WorkflowVersion[]; readonly total: number }> {
  const where = `workflow_id = $1 ${isWhole ? '' : 'and published_at is not null'}`;
  const [rows, [counted]] = await Promise.all([
    sql.query<VersionRow>(
      `select ${columns} from workflow.versions where ${where}
       order by version desc limit $2 offset $3`,
      [workflowId, limit, offset],
    ),
    sql.query<{ total: number }>(`select count(*) as total from workflow.versions where ${where}`, [
      workflowId,
    ]),
  ]);
  return { versions: rows.map(toVersion), total: counted?.total ?? 0 };
}

/** A version with its flow. */
export interface StoredFlow extends WorkflowVersion {
  readonly flow: Flow;
  /** Characters of the flow as JSON. */
  readonly size: number;
}

export async function readVersion(
  sql: WorkflowSql,
  workflowId: string,
  version: number,
): Promise<StoredFlow | undefined> {
  const [row] = await sql.query<VersionRow & { flow: string }>(
    `select ${columns}, flow from workflow.versions where workflow_id = $1 and version = $2`,
    [workflowId, version],
  );
  if (!row) return undefined;
  // Checked before it was stored.
  return { ...toVersion(row), flow: JSON.parse(row.flow) as Flow, size: row.flow.length };
}

/** What new executions of a workflow run. */
export interface Pointer {
  readonly status: WorkflowStatus;
  readonly version: number | undefined;
}

export async function readPointer(
  sql: WorkflowSql,
  workflowId: string,
): Promise<Pointer | undefined> {
  const [row] = await sql.query<{ status: WorkflowStatus; version: number | null }>(
    'select status, version from workflow.workflows where id = $1',
    [workflowId],
  );
  return row && { status: row.status, version: row.version ?? undefined };
}

export interface Publication {
  readonly workflowId: string;
  readonly version: number;
  /** The one that the change was made from. */
  readonly revision: number;
  readonly at: Date;
}

/** Makes a version the one that new executions run; false when somebody else changed something. */
export async function publishVersion(
  sql: WorkflowSql,
  { workflowId, version, revision, at }: Publication,
): Promise<boolean> {
  const rows = await sql.query(
    `with changed as (
       update workflow.workflows set status = 'active', version = $2::integer,
         revision = revision + 1, updated_at = $4::timestamptz,
         named_at = case when status = 'active' then named_at else $4::timestamptz end
       where id = $1 and revision = $3::integer returning id)
     update workflow.versions set published_at = coalesce(published_at, $4::timestamptz)
     where workflow_id in (select id from changed) and version = $2::integer returning version`,
    [workflowId, version, revision, at],
  );
  return rows.length > 0;
}

function toVersion(row: VersionRow): WorkflowVersion {
  return {
    workflowId: row.workflow_id,
    version: row.version,
    components: row.components,
    complexity: row.complexity,
    typicalMs: row.typical_ms,
    createdBy: row.created_by,
    createdAt: row.created_at,
    publishedAt: row.published_at ?? undefined,
  };
}
