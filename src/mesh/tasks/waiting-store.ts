import type { Priority } from './task.ts';
import { askedOf, type AskedRow, type TaskSql } from './task-store.ts';

/** A task that no agent was asked for yet, as whoever takes it over needs it. */
export interface WaitingTask {
  readonly taskId: string;
  readonly askedBy: string;
  readonly idempotencyKey: string | undefined;
  readonly requestHash: string | undefined;
  /** The agent that was named; empty where a capability was. */
  readonly agentId: string;
  readonly ownerId: string;
  readonly capability: string | undefined;
  readonly type: string;
  readonly priority: Priority;
  readonly input: Readonly<Record<string, unknown>>;
  readonly traceparent: string | undefined;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
}

interface WaitingRow extends AskedRow {
  readonly capability: string | null;
  readonly input: string;
  readonly traceparent: string | null;
}

const isWaiting = `held_by is not null and begun_at is null and finished_at is null and not is_inbox`;

export type BegunTask = Pick<WaitingTask, 'taskId' | 'agentId' | 'ownerId'>;

/** Says which agent is about to be asked; false when the task is finished or somebody else's by now. */
export async function beginTask(
  sql: TaskSql,
  { taskId, agentId, ownerId }: BegunTask,
  holder: string,
): Promise<boolean> {
  const rows = await sql.query(
    `update mesh.tasks set begun_at = now(), agent_id = $3, owner_id = $4
     where id = $1 and held_by = $2 and ${isWaiting} returning id`,
    [taskId, holder, agentId, ownerId],
  );
  return rows.length > 0;
}

export interface AdoptOptions {
  readonly holder: string;
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly countMax: number;
}

/** Takes over the most urgent tasks whose holders have said nothing for too long. */
export async function adoptWaiting(sql: TaskSql, options: AdoptOptions): Promise<WaitingTask[]> {
  const { holder, now, leaseUntil, countMax } = options;
  const rows = await sql.query<WaitingRow>(
    `update mesh.tasks set held_by = $1, lease_until = $3::timestamptz
     where id in (
       select id from mesh.tasks
       where ${isWaiting} and lease_until < $2::timestamptz and deadline_at > $2::timestamptz
       order by priority desc, created_at, id limit $4 for update skip locked)
     returning id, asked_by, idempotency_key, request_hash, agent_id, owner_id, capability, type,
       priority, input, traceparent, created_at, deadline_at`,
    [holder, now, leaseUntil, countMax],
  );
  return rows.map(toWaiting);
}

/**
 * Lets others take over what this holder does not come to any more; what it was about to begin too, if no
 * agent was asked for it.
 */
export async function releaseWaiting(sql: TaskSql, taskId: string, holder: string): Promise<void> {
  await sql.query(
    `update mesh.tasks set lease_until = to_timestamp(0), begun_at = null
     where id = $1 and held_by = $2 and finished_at is null and not is_inbox`,
    [taskId, holder],
  );
}

function toWaiting(row: WaitingRow): WaitingTask {
  return {
    ...askedOf(row),
    capability: row.capability ?? undefined,
    input: JSON.parse(row.input) as Readonly<Record<string, unknown>>,
    traceparent: row.traceparent ?? undefined,
  };
}
