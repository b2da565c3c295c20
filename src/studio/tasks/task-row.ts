import type { StoredTask } from './stored-task.ts';
import {
  taskPriorities,
  type Artefact,
  type StudioTask,
  type TaskFailure,
  type TaskInput,
  type TaskRequirements,
  type TaskStatus,
  type TaskType,
  type WorkspaceExtras,
} from './task.ts';

/** JSON columns are texts. */
export interface TaskRow {
  readonly id: string;
  readonly version: number;
  readonly type: TaskType;
  readonly priority: number;
  readonly status: TaskStatus;
  readonly owner_id: string;
  readonly workspace_id: string | null;
  readonly wanted_agent: string | null;
  readonly assigned_agent: string | null;
  readonly agent_restarts: number | null;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly requirements: string;
  readonly input: string;
  readonly settings: string;
  readonly traceparent: string | null;
  readonly result: string | null;
  readonly artefacts: string | null;
  readonly failure: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

const light = `t.id, t.version, t.type, t.priority, t.status, t.owner_id, t.workspace_id,
  t.wanted_agent, t.assigned_agent, t.agent_restarts, t.attempt, t.run_id, t.requirements,
  t.traceparent, t.failure, t.created_at, t.started_at, t.ended_at`;

/** All of a task. */
export const taskColumns = `${light}, t.input, t.settings, t.result, t.artefacts`;

/** The same columns, empty where they may be large. */
export const openColumns = `${light}, '{}' as input, '{}' as settings, null as result,
  null as artefacts`;

export function toTask(row: TaskRow): StoredTask {
  const { workspace_id: workspaceId, wanted_agent: wantedAgent, run_id: runId } = row;
  const { assigned_agent: assignedAgent, agent_restarts: agentRestarts, traceparent } = row;
  return {
    id: row.id,
    version: row.version,
    type: row.type,
    priority: taskPriorities[row.priority] ?? 'normal',
    status: row.status,
    ownerId: row.owner_id,
    attempt: row.attempt,
    // Written by this store, as all JSON here.
    requirements: JSON.parse(row.requirements) as TaskRequirements,
    input: JSON.parse(row.input) as TaskInput,
    extras: JSON.parse(row.settings) as WorkspaceExtras,
    createdAtMs: row.created_at.getTime(),
    ...(workspaceId !== null && { workspaceId }),
    ...(wantedAgent !== null && { wantedAgent }),
    ...(assignedAgent !== null && { assignedAgent }),
    ...(agentRestarts !== null && { agentRestarts }),
    ...(runId !== null && { runId }),
    ...(traceparent !== null && { traceparent }),
    ...outcomeIn(row),
  };
}

function outcomeIn({ result, artefacts, failure, started_at: started, ended_at: ended }: TaskRow) {
  return {
    ...(result !== null && { result: JSON.parse(result) as NonNullable<StudioTask['result']> }),
    ...(artefacts !== null && { artefacts: JSON.parse(artefacts) as Artefact[] }),
    ...(failure !== null && { failure: JSON.parse(failure) as TaskFailure }),
    ...(started && { startedAtMs: started.getTime() }),
    ...(ended && { endedAtMs: ended.getTime() }),
  };
}
