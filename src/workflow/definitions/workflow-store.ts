import type { Database } from '../../kit/database/database.ts';
import type {
  Complexity,
  FlowFacts,
  Workflow,
  WorkflowLabels,
  WorkflowStatus,
} from './workflow.ts';

export type WorkflowSql = Pick<Database, 'query'>;

interface WorkflowRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly status: WorkflowStatus;
  readonly owner_id: string;
  readonly version: number | null;
  readonly latest: number;
  readonly revision: number;
  readonly template_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly components: number;
  readonly complexity: Complexity;
  readonly typical_ms: number;
}

const columns = `w.id, w.name, w.description, w.category, w.tags, w.status, w.owner_id, w.version,
  w.latest, w.revision, w.template_id, w.created_at, w.updated_at, v.components, v.complexity,
  v.typical_ms`;

const withShownVersion = `workflow.workflows w
  join workflow.versions v on v.workflow_id = w.id and v.version = coalesce(w.version, w.latest)`;

export interface NewWorkflow extends WorkflowLabels, FlowFacts {
  readonly id: string;
  readonly ownerId: string;
  readonly isPublished: boolean;
  /** Sealed. */
  readonly secret: string;
  readonly templateId: string | undefined;
  /** JSON. */
  readonly flow: string;
  readonly at: Date;
}

/** Stores a workflow and its version 1. */
export async function insertWorkflow(sql: WorkflowSql, workflow: NewWorkflow): Promise<void> {
  const { isPublished, at } = workflow;
  await sql.query(
    `with made as (
       insert into workflow.workflows (id, name, description, category, tags, status, owner_id,
         version, latest, secret, template_id, created_at, updated_at, named_at)
       values ($1, $2, $3, $4, $5::text[], $6, $7, $8::integer, 1, $9, $10, $11::timestamptz,
         $11::timestamptz, $11::timestamptz)
       returning id)
     insert into workflow.versions (workflow_id, version, flow, components, complexity, typical_ms,
       created_by, created_at, published_at)
     select id, 1, $12, $13::integer, $14, $15::integer, $7, $11::timestamptz, $16::timestamptz
     from made`,
    [
      workflow.id,
      workflow.name,
      workflow.description,
      workflow.category,
      [...workflow.tags],
      isPublished ? 'active' : 'draft',
      workflow.ownerId,
      isPublished ? 1 : null,
      workflow.secret,
      workflow.templateId,
      at,
      workflow.flow,
      workflow.components,
      workflow.complexity,
      workflow.typicalMs,
      isPublished ? at : null,
    ],
  );
}

export async function readWorkflow(sql: WorkflowSql, id: string): Promise<Workflow | undefined> {
  const [row] = await sql.query<WorkflowRow>(
    `select ${columns} from ${withShownVersion} where w.id = $1`,
    [id],
  );
  return row && toWorkflow(row);
}

/** Those of the ids that there are, in no order. */
export async function readWorkflows(sql: WorkflowSql, ids: readonly string[]): Promise<Workflow[]> {
  const rows = await sql.query<WorkflowRow>(
    `select ${columns} from ${withShownVersion} where w.id = any($1::text[])`,
    [[...ids]],
  );
  return rows.map(toWorkflow);
}

/** Which workflows a listing holds; everything that is given must hold. */
export interface WorkflowFilter {
  readonly category?: string | undefined;
  readonly tag?: string | undefined;
  readonly ownerId?: string | undefined;
  /** Whose own are listed, beside those of others of which something was published. */
  readonly seenBy?: string | undefined;
  /** Absent: all that are not archived. */
  readonly status?: WorkflowStatus | undefined;
  readonly complexity?: Complexity | undefined;
  /** A part of the name or of the description, whatever its case. */
  readonly q?: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Newest first, with the number of all that match. */
export async function listWorkflows(
  sql: WorkflowSql,
  filter: WorkflowFilter,
  page: Page,
): Promise<{ readonly workflows: Workflow[]; readonly total: number }> {
  const { where, values } = conditionsOf(filter);
  const [rows, [counted]] = await Promise.all([
    sql.query<WorkflowRow>(
      `select ${columns} from ${withShownVersion} where ${where}
       order by w.id desc limit $${values.length + 1} offset $${values.length + 2}`,
      [...values, page.limit, page.offset],
    ),
    sql.query<{ total: number }>(
      `select count(*) as total from ${withShownVersion} where ${where}`,
      values,
    ),
  ]);
  return { workflows: rows.map(toWorkflow), total: counted?.total ?? 0 };
}

function conditionsOf(filter: WorkflowFilter) {
  const { category, tag, ownerId, seenBy, status, complexity, q } = filter;
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (value: unknown, condition: (place: string) => string): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  add(category, (place) => `w.category = ${place}`);
  add(tag, (place) => `${place} = any(w.tags)`);
  add(ownerId, (place) => `w.owner_id = ${place}`);
  add(seenBy, (place) => `(w.owner_id = ${place} or w.version is not null)`);
  add(complexity, (place) => `v.complexity = ${place}`);
  add(
    q?.toLowerCase(),
    (place) => `position(${place} in lower(w.name || ' ' || w.description)) > 0`,
  );
  add(status, (place) => `w.status = ${place}`);
  if (status === undefined) conditions.push(`w.status <> 'archived'`);
  return { where: conditions.join(' and '), values };
}

export interface WorkflowChange extends WorkflowLabels {
  readonly id: string;
  /** The one that the change was made from. */
  readonly revision: number;
  readonly status: WorkflowStatus;
  readonly version: number | undefined;
  readonly latest: number;
  readonly at: Date;
}

/** A flow as a version keeps it. */
export interface NewVersion extends FlowFacts {
  /** JSON. */
  readonly flow: string;
  readonly createdBy: string;
  readonly isPublished: boolean;
}

const changedWorkflow = `update workflow.workflows set name = $3, description = $4, category = $5,
  tags = $6::text[], status = $7, version = $8::integer, latest = $9::integer,
  revision = revision + 1, updated_at = $10::timestamptz,
  named_at = case when name <> $3 or (status <> 'active' and $7 = 'active')
    then $10::timestamptz else named_at end
  where id = $1 and revision = $2::integer returning id`;

function changeValues(change: WorkflowChange): unknown[] {
  return [
    change.id,
    change.revision,
    change.name,
    change.description,
    change.category,
    [...change.tags],
    change.status,
    change.version,
    change.latest,
    change.at,
  ];
}

/** False, and nothing is stored, when somebody else changed it meanwhile. */
export async function updateWorkflow(sql: WorkflowSql, change: WorkflowChange): Promise<boolean> {
  const rows = await sql.query(changedWorkflow, changeValues(change));
  return rows.length > 0;
}

/** The same with a flow for the newest version, which is new or still a draft. */
export async function updateWorkflowAndFlow(
  sql: WorkflowSql,
  change: WorkflowChange,
  version: NewVersion,
): Promise<boolean> {
  const { flow, components, complexity, typicalMs, createdBy, isPublished } = version;
  const rows = await sql.query(
    `with changed as (${changedWorkflow})
     insert into workflow.versions as v (workflow_id, version, flow, components, complexity,
       typical_ms, created_by, created_at, published_at)
     select id, $9::integer, $11, $12::integer, $13, $14::integer, $15, $10::timestamptz,
       $16::timestamptz
     from changed
     on conflict (workflow_id, version) do update set flow = excluded.flow,
       components = excluded.components, complexity = excluded.complexity,
       typical_ms = excluded.typical_ms, created_by = excluded.created_by,
       created_at = excluded.created_at, published_at = excluded.published_at
       where v.published_at is null
     returning workflow_id`,
    [
      ...changeValues(change),
      flow,
      components,
      complexity,
      typicalMs,
      createdBy,
      isPublished ? change.at : null,
    ],
  );
  return rows.length > 0;
}

/** The sealed secret of a workflow. */
export async function readSecret(sql: WorkflowSql, id: string): Promise<string | undefined> {
  const [row] = await sql.query<{ secret: string }>(
    'select secret from workflow.workflows where id = $1',
    [id],
  );
  return row?.secret;
}

/** Whether anything of the service is sealed already: every workflow has a secret. */
export async function hasWorkflow(sql: WorkflowSql): Promise<boolean> {
  const rows = await sql.query('select 1 from workflow.workflows limit 1');
  return rows.length > 0;
}

function toWorkflow(row: WorkflowRow): Workflow {
  const { id, name, description, category, tags, status, latest, revision } = row;
  return {
    id,
    name,
    description,
    category,
    tags,
    status,
    latest,
    revision,
    ownerId: row.owner_id,
    version: row.version ?? undefined,
    templateId: row.template_id ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    components: row.components,
    complexity: row.complexity,
    typicalMs: row.typical_ms,
  };
}
