import { priorities, type Priority } from './task.ts';
import type { EndedTask, TaskFailure } from './task-record.ts';
import { endedColumns, rankOf, toEnded, type EndedRow, type TaskSql } from './task-store.ts';

/** A task that waits for its agent to come for it. */
export interface InboxEntry {
  readonly taskId: string;
  readonly askedBy: string;
  readonly agentId: string;
  /** Whose the agent is: nobody else gets the task or answers it. */
  readonly ownerId: string;
  readonly type: string;
  readonly priority: Priority;
  /** JSON. */
  readonly input: string;
  readonly traceparent: string;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
}

const columnTypes = `id text, asked_by text, agent_id text, owner_id text, type text, priority smallint, input text,
  traceparent text, created_at timestamptz, deadline_at timestamptz`;

/** Puts tasks into inboxes of at most `countMax` each; the ids of those that found room. */
export async function addToInboxes(
  sql: TaskSql,
  entries: readonly InboxEntry[],
  countMax: number,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `with given as (
       select *, row_number() over (partition by agent_id, owner_id order by created_at, id) as place
       from json_to_recordset($1::json) as entry(${columnTypes})
     ), held as (
       select agent_id, owner_id, count(*) as total from mesh.tasks
       where agent_id in (select agent_id from given) and is_inbox and finished_at is null
         and deadline_at > now()
       group by agent_id, owner_id
     )
     insert into mesh.tasks as kept (id, asked_by, agent_id, owner_id, type, priority, input,
       traceparent, created_at, deadline_at, status, is_inbox)
     select id, asked_by, agent_id, owner_id, type, priority, input, traceparent, created_at,
       deadline_at, 'queued', true
     from given left join held using (agent_id, owner_id)
     where place + coalesce(total, 0) <= $2::integer
     on conflict (id) do update set agent_id = excluded.agent_id,
       owner_id = excluded.owner_id, input = excluded.input,
       traceparent = excluded.traceparent, is_inbox = true, status = 'queued', lease_until = null
     where kept.finished_at is null
     returning id`,
    [JSON.stringify(entries.map(toRow)), countMax],
  );
  return new Set(rows.map(({ id }) => id));
}

export interface ClaimOptions {
  readonly agentId: string;
  /** Only what was asked of the agent as this owner's. */
  readonly ownerId: string;
  readonly countMax: number;
  readonly now: Date;
  /** Until when nobody else gets the tasks. */
  readonly leaseUntil: Date;
}

/** A task as its agent takes it. */
export interface ClaimedTask {
  readonly taskId: string;
  readonly askedBy: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  readonly traceparent: string;
  readonly deadlineAtMs: number;
  /** 1, and more when it was taken before and not answered in time. */
  readonly attempt: number;
}

interface ClaimedRow {
  readonly id: string;
  readonly asked_by: string;
  readonly type: string;
  readonly input: string;
  readonly priority: number;
  readonly traceparent: string;
  readonly deadline_at: Date;
  readonly attempt: number;
}

/** Takes an agent's most urgent tasks that nobody has; of several replicas one gets each. */
export async function claimInbox(sql: TaskSql, options: ClaimOptions): Promise<ClaimedTask[]> {
  const { agentId, ownerId, countMax, now, leaseUntil } = options;
  const rows = await sql.query<ClaimedRow>(
    `with taken as (
       update mesh.tasks set status = 'running', lease_until = $3::timestamptz,
         attempt = attempt + 1
       where id in (
         select id from mesh.tasks
         where agent_id = $1 and owner_id = $5 and is_inbox and finished_at is null
           and deadline_at > $2::timestamptz
           and (lease_until is null or lease_until <= $2::timestamptz)
         order by priority desc, created_at, id limit $4 for update skip locked)
       returning id, asked_by, type, input, priority, traceparent, created_at, deadline_at, attempt)
     select * from taken order by priority desc, created_at, id`,
    [agentId, now, leaseUntil, countMax, ownerId],
  );
  return rows.map((row) => ({
    taskId: row.id,
    askedBy: row.asked_by,
    type: row.type,
    input: JSON.parse(row.input) as Readonly<Record<string, unknown>>,
    priority: priorities[row.priority] ?? 'normal',
    traceparent: row.traceparent,
    deadlineAtMs: row.deadline_at.getTime(),
    attempt: row.attempt,
  }));
}

/** Gives back tasks whose agent had gone before it got them. */
export async function releaseInbox(sql: TaskSql, taskIds: readonly string[]): Promise<void> {
  await sql.query(
    `update mesh.tasks set status = 'queued', lease_until = null, attempt = attempt - 1
     where id = any($1::text[]) and finished_at is null`,
    [taskIds],
  );
}

/**
 * When the first lease of an owner's tasks ends that can be taken then; a task that somebody is just
 * taking counts as free now.
 */
export async function nextLeaseEnd(
  sql: TaskSql,
  { agentId, ownerId, now }: Pick<ClaimOptions, 'agentId' | 'ownerId' | 'now'>,
): Promise<Date | undefined> {
  const [row] = await sql.query<{ ends_at: Date | null }>(
    `select min(coalesce(lease_until, $3::timestamptz)) as ends_at from mesh.tasks
     where agent_id = $1 and owner_id = $2 and is_inbox and finished_at is null
       and deadline_at > $3::timestamptz and (lease_until is null or lease_until < deadline_at)`,
    [agentId, ownerId, now],
  );
  return row?.ends_at ?? undefined;
}

export interface InboxEnd {
  readonly agentId: string;
  /** Only what was asked until then. */
  readonly endedAt: Date;
  readonly failure: TaskFailure;
}

/** Ends whatever waits for an agent or is taken. */
export async function endInbox(sql: TaskSql, end: InboxEnd): Promise<readonly EndedTask[]> {
  const { agentId, endedAt, failure } = end;
  const rows = await sql.query<EndedRow>(
    `update mesh.tasks set status = 'failed', failure = $3, finished_at = $2::timestamptz
     where agent_id = $1 and is_inbox and finished_at is null and created_at <= $2::timestamptz
     returning ${endedColumns}`,
    [agentId, endedAt, JSON.stringify(failure)],
  );
  return rows.map(toEnded);
}

export interface InboxAnswer {
  readonly taskId: string;
  readonly agentId: string;
  readonly ownerId: string;
  readonly finishedAt: Date;
  /** JSON. */
  readonly result?: string | undefined;
  readonly failure?: TaskFailure | undefined;
}

/** What has become of an answer. */
export interface InboxAnswered {
  /** Of the task, as it is now. */
  readonly status: string;
  /** Absent where it had ended before. */
  readonly ended?: EndedTask;
}

/** Stores an agent's answer, the first only; undefined when the task is not this owner's. */
export async function answerInbox(
  sql: TaskSql,
  answer: InboxAnswer,
): Promise<InboxAnswered | undefined> {
  const { taskId, agentId, ownerId, finishedAt, result, failure } = answer;
  const status = failure ? 'failed' : 'completed';
  const [stored] = await sql.query<EndedRow>(
    `update mesh.tasks set status = $3, result = $4, failure = $5, finished_at = $6::timestamptz
     where id = $1 and agent_id = $2 and owner_id = $7 and is_inbox and finished_at is null
       and deadline_at > $6::timestamptz
     returning ${endedColumns}`,
    [taskId, agentId, status, result, failure && JSON.stringify(failure), finishedAt, ownerId],
  );
  if (stored) return { status, ended: toEnded(stored) };
  const [row] = await sql.query<{ status: string }>(
    `select case when finished_at is null then 'failed' else status end as status
     from mesh.tasks where id = $1 and agent_id = $2 and owner_id = $3 and is_inbox`,
    [taskId, agentId, ownerId],
  );
  return row && { status: row.status };
}

function toRow(entry: InboxEntry) {
  return {
    id: entry.taskId,
    asked_by: entry.askedBy,
    agent_id: entry.agentId,
    owner_id: entry.ownerId,
    type: entry.type,
    priority: rankOf(entry.priority),
    input: entry.input,
    traceparent: entry.traceparent,
    created_at: new Date(entry.createdAtMs),
    deadline_at: new Date(entry.deadlineAtMs),
  };
}
