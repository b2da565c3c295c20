import type { StoredOrchestration, StoredStep } from './stored-orchestration.ts';

export interface OrchestrationRow {
  readonly id: string;
  readonly owner_id: string;
  readonly task: string;
  readonly context: string | null;
  readonly is_parallel: boolean;
  readonly status: StoredOrchestration['status'];
  readonly created_at: Date;
  readonly deadline_at: Date;
  readonly ended_at: Date | null;
  readonly replica: string;
  readonly epoch: number;
  /** Built by PostgreSQL, with times as texts. */
  readonly steps: readonly StepRow[] | null;
}

export interface StepRow {
  readonly place: number;
  readonly agent_id: string;
  readonly name: string;
  readonly task_type: string;
  readonly status: StoredStep['status'];
  readonly task_id: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** The columns that change. */
export const stepColumnTypes = `orchestration_id text, place integer, agent_id text, name text,
  task_type text, status text, task_id text, result text, error text, started_at timestamptz,
  ended_at timestamptz`;

export function toStored(row: OrchestrationRow): StoredOrchestration {
  return {
    id: row.id,
    ownerId: row.owner_id,
    task: row.task,
    // Written by this area, of an object.
    context: row.context === null ? {} : (JSON.parse(row.context) as Record<string, unknown>),
    isParallel: row.is_parallel,
    status: row.status,
    createdAtMs: row.created_at.getTime(),
    deadlineAtMs: row.deadline_at.getTime(),
    endedAtMs: row.ended_at?.getTime(),
    replica: row.replica,
    epoch: row.epoch,
    steps: (row.steps ?? []).map(toStoredStep),
  };
}

function toStoredStep(row: StepRow): StoredStep {
  const { place, agent_id: agentId, name, task_type: taskType, status } = row;
  return {
    place,
    agentId,
    name,
    taskType,
    status,
    ...(row.task_id !== null && { taskId: row.task_id }),
    ...(row.result !== null && { result: JSON.parse(row.result) as unknown }),
    ...(row.error !== null && { error: JSON.parse(row.error) as NonNullable<StoredStep['error']> }),
    ...(row.started_at !== null && { startedAtMs: Date.parse(row.started_at) }),
    ...(row.ended_at !== null && { endedAtMs: Date.parse(row.ended_at) }),
  };
}

/** A step as `json_to_recordset` takes it. */
export function toStepRow(orchestrationId: string, step: StoredStep) {
  const { place, agentId, name, taskType, status, taskId, result, error } = step;
  return {
    orchestration_id: orchestrationId,
    place,
    agent_id: agentId,
    name,
    task_type: taskType,
    status,
    task_id: taskId,
    // JSON in JSON: what no database stores stays an escape.
    result: result === undefined ? undefined : JSON.stringify(result),
    error: error && JSON.stringify(error),
    started_at: timeOf(step.startedAtMs),
    ended_at: timeOf(step.endedAtMs),
  };
}

/** ISO 8601. */
export function timeOf(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}
