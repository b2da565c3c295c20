import type { Database } from '../../kit/database/database.ts';
import { priorities } from './task.ts';
import type { EndedTask, TaskFailure, TaskRecord, TaskStatus } from './task-record.ts';

export type TaskSql = Pick<Database, 'query'>;

/** What was asked for, as every row of a task has it. */
export interface AskedRow {
  readonly id: string;
  readonly asked_by: string;
  readonly idempotency_key: string | null;
  readonly request_hash: string | null;
  readonly agent_id: string;
  readonly owner_id: string;
  readonly type: string;
  readonly priority: number;
  readonly created_at: Date;
  readonly deadline_at: Date;
}

interface TaskRow extends AskedRow {
  readonly status: TaskStatus;
  readonly result: string | null;
  readonly failure: string | null;
  readonly finished_at: Date | null;
  readonly lease_until: Date | null;
}

const readableColumns = `id, asked_by, idempotency_key, request_hash, agent_id, owner_id, type, priority,
  status, result, failure, created_at, deadline_at, finished_at`;
const columns = `${readableColumns}, lease_until, input, traceparent, capability, held_by`;
// What waits is taken over when its lease ends, and what is in an inbox has leases of its takers.
const readColumns = `${readableColumns}, case when not is_inbox and (held_by is null or begun_at is not null)
  then lease_until end as lease_until`;

const columnTypes = `id text, asked_by text, idempotency_key text, request_hash text, agent_id text,
  owner_id text, type text, priority smallint, status text, result text, failure text, created_at timestamptz,
  deadline_at timestamptz, finished_at timestamptz, lease_until timestamptz, input text, traceparent text,
  capability text, held_by text`;

/**
 * Writes records as they are now; what was finished before stays as it was. No id stands twice. The ids of
 * those that were written.
 */
export async function writeTasks(
  sql: TaskSql,
  records: readonly TaskRecord[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `insert into mesh.tasks as kept (${columns})
     select ${columns} from json_to_recordset($1::json) as given(${columnTypes})
     on conflict (id) do update set agent_id = excluded.agent_id,
       owner_id = excluded.owner_id, status = excluded.status,
       result = excluded.result, failure = excluded.failure, finished_at = excluded.finished_at,
       idempotency_key = excluded.idempotency_key,
       input = case when excluded.finished_at is null then kept.input end
     where kept.finished_at is null
     returning id`,
    [JSON.stringify(records.map(toRow))],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Takes a subject's key for a record; the record that has it already, if one has. */
export async function claimKey(sql: TaskSql, record: TaskRecord): Promise<TaskRecord | undefined> {
  const added = await sql.query(
    `insert into mesh.tasks (${columns})
     select ${columns} from json_to_recordset($1::json) as given(${columnTypes})
     on conflict do nothing returning id`,
    [JSON.stringify([toRow(record)])],
  );
  if (added.length > 0) return undefined;
  const [row] = await sql.query<TaskRow>(
    `select ${readColumns} from mesh.tasks where asked_by = $1 and idempotency_key = $2`,
    [record.askedBy, record.idempotencyKey],
  );
  // Whoever had the key has given it back since.
  return row ? toRecord(row) : claimKey(sql, record);
}

export async function readTask(sql: TaskSql, taskId: string): Promise<TaskRecord | undefined> {
  const [row] = await sql.query<TaskRow>(`select ${readColumns} from mesh.tasks where id = $1`, [
    taskId,
  ]);
  return row && toRecord(row);
}

export interface AbandonedOptions {
  /** Tasks whose deadline or whose process's lease ended before. */
  readonly before: Date;
  readonly countMax: number;
}

/** Tasks that have not ended, though their time is up or whoever worked on them is gone. */
export async function readAbandoned(
  sql: TaskSql,
  { before, countMax }: AbandonedOptions,
): Promise<TaskRecord[]> {
  const rows = await sql.query<TaskRow>(
    `select ${readColumns} from mesh.tasks
     where finished_at is null and (deadline_at < $1::timestamptz
       or (not is_inbox and (held_by is null or begun_at is not null) and lease_until < $1::timestamptz))
     limit $2`,
    [before, countMax],
  );
  return rows.map(toRecord);
}

/** Says that this process still works on tasks; those in inboxes have leases of their takers. */
export async function renewTasks(
  sql: TaskSql,
  taskIds: readonly string[],
  { holder, leaseUntil }: { readonly holder: string; readonly leaseUntil: Date },
): Promise<void> {
  await sql.query(
    `update mesh.tasks set lease_until = $2::timestamptz
     where id = any($1::text[]) and finished_at is null and not is_inbox and held_by = $3`,
    [taskIds, leaseUntil, holder],
  );
}

/** Calls a task off unless it is finished; undefined when it is, or was never there. */
export async function cancelTask(
  sql: TaskSql,
  taskId: string,
  now: Date,
): Promise<EndedTask | undefined> {
  const [row] = await sql.query<EndedRow>(
    `update mesh.tasks set status = 'cancelled', finished_at = $2::timestamptz
     where id = $1 and finished_at is null returning ${endedColumns}`,
    [taskId, now],
  );
  return row && toEnded(row);
}

/** What a statement that ends a task returns of it. */
export const endedColumns = `id, agent_id, type, status, created_at, finished_at`;

export interface EndedRow {
  readonly id: string;
  readonly agent_id: string;
  readonly type: string;
  readonly status: EndedTask['status'];
  readonly created_at: Date;
  readonly finished_at: Date;
}

/** What a statement that ends a task has returned. */
export function toEnded(row: EndedRow): EndedTask {
  const { id, agent_id, type, status, created_at, finished_at } = row;
  const durationMs = Math.max(0, finished_at.getTime() - created_at.getTime());
  return { taskId: id, agentId: agent_id, type, status, durationMs };
}

/** Forgets tasks that were asked before a time, at most 10,000 at once; how many. */
export async function deleteTasks(sql: TaskSql, before: Date): Promise<number> {
  const rows = await sql.query(
    `delete from mesh.tasks where id in (
       select id from mesh.tasks
       where created_at < $1::timestamptz and deadline_at < $1::timestamptz limit 10000)
     returning id`,
    [before],
  );
  return rows.length;
}

/** The number that orders a priority, the most urgent highest. */
export function rankOf(priority: TaskRecord['priority']): number {
  return priorities.indexOf(priority);
}

function toRow(record: TaskRecord) {
  const { createdAtMs, deadlineAtMs, finishedAtMs, leaseUntilMs, failure, handOver } = record;
  return {
    id: record.taskId,
    asked_by: record.askedBy,
    idempotency_key: record.idempotencyKey,
    request_hash: record.requestHash,
    agent_id: record.agentId,
    owner_id: record.ownerId,
    type: record.type,
    priority: rankOf(record.priority),
    status: record.status,
    result: record.result,
    failure: failure && JSON.stringify(failure),
    created_at: new Date(createdAtMs),
    deadline_at: new Date(deadlineAtMs),
    finished_at: finishedAtMs === undefined ? undefined : new Date(finishedAtMs),
    lease_until: leaseUntilMs === undefined ? undefined : new Date(leaseUntilMs),
    input: handOver?.input,
    traceparent: handOver?.traceparent,
    capability: handOver?.capability,
    held_by: handOver?.holder,
  };
}

export function askedOf(row: AskedRow) {
  return {
    taskId: row.id,
    askedBy: row.asked_by,
    idempotencyKey: row.idempotency_key ?? undefined,
    requestHash: row.request_hash ?? undefined,
    agentId: row.agent_id,
    ownerId: row.owner_id,
    type: row.type,
    priority: priorities[row.priority] ?? 'normal',
    createdAtMs: row.created_at.getTime(),
    deadlineAtMs: row.deadline_at.getTime(),
  };
}

function toRecord(row: TaskRow): TaskRecord {
  return {
    ...askedOf(row),
    status: row.status,
    result: row.result ?? undefined,
    failure: row.failure === null ? undefined : (JSON.parse(row.failure) as TaskFailure),
    finishedAtMs: row.finished_at?.getTime(),
    leaseUntilMs: row.lease_until?.getTime(),
  };
}
