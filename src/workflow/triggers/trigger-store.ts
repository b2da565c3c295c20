import type { Database } from '../../kit/database/database.ts';
import type { Trigger, TriggerSettings, TriggerType } from './trigger.ts';

/** What the stores of triggers need of a database. */
export type TriggerSql = Pick<Database, 'query'>;

interface TriggerRow {
  readonly id: string;
  readonly workflow_id: string;
  readonly owner_id: string;
  readonly permissions: readonly string[];
  readonly type: TriggerType;
  readonly name: string | null;
  readonly is_enabled: boolean;
  readonly settings: string;
  readonly secret: string | null;
  readonly revision: number;
  readonly next_at: Date | null;
  readonly fired_count: number;
  readonly fired_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = `id, workflow_id, owner_id, permissions, type, name, is_enabled, settings, secret,
  revision, next_at, fired_count, fired_at, created_at, updated_at`;

/** Stores a trigger; undefined when its workflow has as many as it may. */
export async function insertTrigger(
  sql: TriggerSql,
  trigger: Trigger,
  countMax: number,
): Promise<Trigger | undefined> {
  const [row] = await sql.query<TriggerRow>(
    `insert into workflow.triggers (id, workflow_id, owner_id, type, name, is_enabled, settings,
       secret, topic, next_at, created_at, updated_at, permissions)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz, $11::timestamptz, $11::timestamptz,
       $13::text[]
     where (select count(*) from workflow.triggers where workflow_id = $2) < $12
     returning ${columns}`,
    [
      trigger.id,
      trigger.workflowId,
      trigger.ownerId,
      trigger.type,
      trigger.name,
      trigger.isEnabled,
      JSON.stringify(trigger.settings),
      trigger.secret,
      trigger.settings.topic,
      trigger.nextAt,
      trigger.createdAt,
      countMax,
      trigger.permissions,
    ],
  );
  return row && toTrigger(row);
}

export async function readTrigger(sql: TriggerSql, id: string): Promise<Trigger | undefined> {
  const [row] = await sql.query<TriggerRow>(
    `select ${columns} from workflow.triggers where id = $1`,
    [id],
  );
  return row && toTrigger(row);
}

/** Which triggers a listing holds. */
export interface TriggerFilter {
  readonly workflowId: string;
  /** Open hooks are this one's own; those of everybody when absent. */
  readonly seenBy: string | undefined;
}

/** One page of a workflow's triggers, oldest first, and how many there are. */
export async function listTriggers(
  sql: TriggerSql,
  { workflowId, seenBy }: TriggerFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly triggers: Trigger[]; readonly total: number }> {
  const where = `workflow_id = $1 and ($2::text is null or owner_id = $2 or type <> 'webhook'
    or settings::json->>'verification' is distinct from 'none')`;
  const rows = await sql.query<TriggerRow>(
    `select ${columns} from workflow.triggers where ${where} order by id limit $3 offset $4`,
    [workflowId, seenBy ?? null, limit, offset],
  );
  const [all] = await sql.query<{ total: number }>(
    `select count(*) as total from workflow.triggers where ${where}`,
    [workflowId, seenBy ?? null],
  );
  return { triggers: rows.map(toTrigger), total: all?.total ?? 0 };
}

/** Enabled triggers that wait for events. */
export async function listEventTriggers(sql: TriggerSql): Promise<Trigger[]> {
  const rows = await sql.query<TriggerRow>(
    `select ${columns} from workflow.triggers where topic is not null and is_enabled`,
  );
  return rows.map(toTrigger);
}

/** Stores a change; undefined when somebody else changed the trigger meanwhile. */
export async function updateTrigger(
  sql: TriggerSql,
  trigger: Trigger,
): Promise<Trigger | undefined> {
  const [row] = await sql.query<TriggerRow>(
    `update workflow.triggers set name = $3, is_enabled = $4, settings = $5, secret = $6, topic = $7,
       next_at = $8::timestamptz, updated_at = $9::timestamptz, permissions = $10::text[],
       revision = revision + 1
     where id = $1 and revision = $2
     returning ${columns}`,
    [
      trigger.id,
      trigger.revision,
      trigger.name,
      trigger.isEnabled,
      JSON.stringify(trigger.settings),
      trigger.secret,
      trigger.settings.topic,
      trigger.nextAt,
      trigger.updatedAt,
      trigger.permissions,
    ],
  );
  return row && toTrigger(row);
}

/** With its history; false when there was none. */
export async function deleteTrigger(sql: TriggerSql, id: string): Promise<boolean> {
  const rows = await sql.query('delete from workflow.triggers where id = $1 returning id', [id]);
  return rows.length > 0;
}

/** Nothing starts this workflow by itself any more. */
export async function disableTriggers(
  sql: TriggerSql,
  workflowId: string,
  now: Date,
): Promise<void> {
  await sql.query(
    `update workflow.triggers set is_enabled = false, next_at = null, revision = revision + 1,
       updated_at = $2::timestamptz
     where workflow_id = $1 and is_enabled`,
    [workflowId, now],
  );
}

/** Schedules that are due, the longest overdue first. */
export async function listDue(sql: TriggerSql, now: Date, countMax: number): Promise<Trigger[]> {
  const rows = await sql.query<TriggerRow>(
    `select ${columns} from workflow.triggers
     where next_at <= $1::timestamptz and is_enabled order by next_at limit $2`,
    [now, countMax],
  );
  return rows.map(toTrigger);
}

/** Schedules that are due later than that, by their ids behind `after`. */
export async function listWaiting(
  sql: TriggerSql,
  now: Date,
  { after, countMax }: { readonly after: string; readonly countMax: number },
): Promise<Trigger[]> {
  const rows = await sql.query<TriggerRow>(
    `select ${columns} from workflow.triggers
     where next_at > $1::timestamptz and is_enabled and id > $2 order by id limit $3`,
    [now, after, countMax],
  );
  return rows.map(toTrigger);
}

/** Has a schedule due at another time, unless it has fired or was changed meanwhile. */
export async function moveDue(
  sql: TriggerSql,
  { id, nextAt, revision }: Pick<Trigger, 'id' | 'nextAt' | 'revision'>,
  next: Date,
): Promise<void> {
  await sql.query(
    `update workflow.triggers set next_at = $4::timestamptz
     where id = $1 and next_at = $2::timestamptz and revision = $3 and is_enabled`,
    [id, nextAt, revision, next],
  );
}

/** When the next schedule is due. */
export async function findNextDue(sql: TriggerSql): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    'select min(next_at) as at from workflow.triggers where is_enabled',
  );
  return row?.at ?? undefined;
}

function toTrigger(row: TriggerRow): Trigger {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    ownerId: row.owner_id,
    permissions: row.permissions,
    type: row.type,
    name: row.name ?? undefined,
    isEnabled: row.is_enabled,
    // Written by this area.
    settings: JSON.parse(row.settings) as TriggerSettings,
    secret: row.secret ?? undefined,
    revision: row.revision,
    nextAt: row.next_at ?? undefined,
    firedCount: row.fired_count,
    firedAt: row.fired_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
