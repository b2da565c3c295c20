import type { Database } from '../../kit/database/database.ts';
import type { StoredTask } from './stored-task.ts';
import { taskPriorities, type TaskFailure, type TaskStatus } from './task.ts';
import { openColumns, taskColumns, toTask, type TaskRow } from './task-row.ts';

export type TaskSql = Pick<Database, 'query' | 'dialect'>;

/** A task to be stored. */
export interface TaskEntry {
  readonly task: StoredTask;
  readonly idempotencyKey?: string | undefined;
  /** Tells whether a repeated key stands for the same task. */
  readonly requestHash?: string | undefined;
}

const pageMax = 1_000;

/** Stores new tasks; the ids of those whose key was free. */
export async function insertTasks(
  sql: TaskSql,
  entries: readonly TaskEntry[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `insert into studio.tasks (id, type, priority, status, owner_id, idempotency_key, request_hash,
       workspace_id, wanted_agent, requirements, input, settings, traceparent, created_at)
     select g.id, g.type, g.priority, 'queued', g."ownerId", g."idempotencyKey", g."requestHash",
       g."workspaceId", g."wantedAgent", g.requirements, g.input, g.settings, g.traceparent,
       to_timestamp(g."createdAtMs" / 1000)
     from json_to_recordset($1::json) as g(id text, type text, priority smallint, "ownerId" text,
       "idempotencyKey" text, "requestHash" text, "workspaceId" text, "wantedAgent" text,
       requirements text, input text, settings text, traceparent text, "createdAtMs" float8)
     on conflict do nothing returning id`,
    [JSON.stringify(entries.map(toInsert))],
  );
  return new Set(rows.map(({ id }) => id));
}

/** The task that a subject's key stands for. */
export async function readKeyed(
  sql: TaskSql,
  ownerId: string,
  idempotencyKey: string,
): Promise<{ readonly task: StoredTask; readonly requestHash: string } | undefined> {
  const [row] = await sql.query<TaskRow & { request_hash: string }>(
    `select ${taskColumns}, t.request_hash from studio.tasks t
     where t.owner_id = $1 and t.idempotency_key = $2`,
    [ownerId, idempotencyKey],
  );
  return row && { task: toTask(row), requestHash: row.request_hash };
}

export async function readTask(sql: TaskSql, id: string): Promise<StoredTask | undefined> {
  const [task] = await readTasks(sql, [id]);
  return task;
}

export async function readTasks(sql: TaskSql, ids: readonly string[]): Promise<StoredTask[]> {
  const rows = await sql.query<TaskRow>(
    `select ${taskColumns} from studio.tasks t where t.id = any($1::text[])`,
    [ids],
  );
  return rows.map(toTask);
}

/** Which tasks are listed: all that match what is given. */
export interface TaskFilter {
  /** Sees its own tasks that belong to no workspace, and those of workspaces where its role is one of these. */
  readonly seenBy?: { readonly subject: string; readonly roles: readonly string[] } | undefined;
  readonly agentId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The newest first, with the number of all that match. */
export async function listTasks(
  sql: TaskSql,
  { seenBy, agentId, workspaceId, status, limit, offset }: TaskFilter,
): Promise<{ readonly tasks: readonly StoredTask[]; readonly total: number }> {
  const where = `($1::text is null
      or (t.workspace_id is null and t.owner_id = $1)
      or t.workspace_id in (select m.workspace_id from studio.members m
        where m.user_id = $1 and m.role = any($2::text[])))
    and ($3::text is null or t.wanted_agent = $3 or t.assigned_agent = $3)
    and ($4::text is null or t.workspace_id = $4)
    and ($5::text is null or t.status = $5)`;
  const filter = [seenBy?.subject, seenBy?.roles ?? [], agentId, workspaceId, status];
  const [rows, [counted]] = await Promise.all([
    sql.query<TaskRow>(
      `select ${taskColumns} from studio.tasks t where ${where}
       order by t.id desc limit $6 offset $7`,
      [...filter, limit, offset],
    ),
    sql.query<{ total: number }>(
      `select count(*) as total from studio.tasks t where ${where}`,
      filter,
    ),
  ]);
  return { tasks: rows.map(toTask), total: counted?.total ?? 0 };
}

/** Ends tasks that have not ended, whatever they do; those that it ended. */
export async function endTasks(
  sql: TaskSql,
  which: { readonly id: string } | { readonly workspaceId: string },
  failure: TaskFailure,
): Promise<StoredTask[]> {
  const [column, value] =
    'id' in which ? ['id', which.id] : (['workspace_id', which.workspaceId] as const);
  const rows = await sql.query<TaskRow>(
    `update studio.tasks t set status = 'failed', failure = $2, ended_at = now(),
       version = t.version + 1, is_stopping = t.status <> 'queued'
     where t.${column} = $1 and t.ended_at is null returning ${taskColumns}`,
    [value, JSON.stringify(failure)],
  );
  return rows.map(toTask);
}

/** Those that have not ended, in their order by id, without what may be large; page by page. */
export async function readOpen(sql: TaskSql, afterId: string): Promise<StoredTask[]> {
  const rows = await sql.query<TaskRow>(
    `select ${openColumns} from studio.tasks t where t.ended_at is null and t.id > $1
     order by t.id limit ${pageMax}`,
    [afterId],
  );
  return rows.map(toTask);
}

/** Those that have ended here, and whoever does them may not know. */
export async function readStopping(sql: TaskSql): Promise<StoredTask[]> {
  const rows = await sql.query<TaskRow>(
    `select ${openColumns} from studio.tasks t where t.is_stopping order by t.id limit ${pageMax}`,
  );
  return rows.map(toTask);
}

export async function markStopped(sql: TaskSql, ids: readonly string[]): Promise<void> {
  await sql.query('update studio.tasks set is_stopping = false where id = any($1::text[])', [ids]);
}

export async function deleteWorkspaceTasks(sql: TaskSql, workspaceId: string): Promise<void> {
  await sql.query('delete from studio.tasks where workspace_id = $1', [workspaceId]);
}

/** Forgets some of the tasks that ended before a time; whether there may be more. */
export async function deleteEnded(sql: TaskSql, before: Date): Promise<boolean> {
  const rows = await sql.query(
    `delete from studio.tasks where id in (select id from studio.tasks
       where ended_at < $1::timestamptz and not is_stopping order by ended_at limit ${pageMax})
     returning id`,
    [before],
  );
  return rows.length === pageMax;
}

function toInsert({ task, idempotencyKey, requestHash }: TaskEntry) {
  const { id, type, ownerId, workspaceId, wantedAgent, traceparent, createdAtMs } = task;
  return {
    id,
    type,
    priority: taskPriorities.indexOf(task.priority),
    ownerId,
    idempotencyKey,
    requestHash,
    workspaceId,
    wantedAgent,
    requirements: JSON.stringify(task.requirements),
    input: JSON.stringify(task.input),
    settings: JSON.stringify(task.extras),
    traceparent,
    createdAtMs,
  };
}
