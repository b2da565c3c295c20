import { Fault, type Code } from '../../kit/errors.ts';
import type { Priority, TaskOutcome } from './task.ts';

export type TaskStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

/** Why a task came to nothing, in words that the one who asked may read. */
export interface TaskFailure {
  readonly code: Code;
  readonly reason?: string | undefined;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/** A task as it is kept. Times are milliseconds since the epoch. */
export interface TaskRecord {
  readonly taskId: string;
  readonly askedBy: string;
  readonly idempotencyKey?: string | undefined;
  /** Tells whether a repeated key stands for the same request. */
  readonly requestHash?: string | undefined;
  /** Who executes it; empty until somebody does. */
  readonly agentId: string;
  /** Whose the agent was when it got the task; empty until then. */
  readonly ownerId: string;
  readonly type: string;
  readonly priority: Priority;
  readonly status: TaskStatus;
  /** JSON. Absent until it is completed, and when it was too large to keep. */
  readonly result?: string | undefined;
  readonly failure?: TaskFailure | undefined;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly finishedAtMs?: number | undefined;
  /** Until when some process surely works on it; absent for tasks in an inbox, and for those that wait. */
  readonly leaseUntilMs?: number | undefined;
  /** What others need to take it over, written with its first record. */
  readonly handOver?: HandOver | undefined;
}

/** What a process leaves to whoever takes over a task that no agent was asked for. */
export interface HandOver {
  /** The process that has it. */
  readonly holder: string;
  /** JSON. */
  readonly input: string;
  readonly capability: string | undefined;
  readonly traceparent: string | undefined;
}

/** Whether nothing changes it any more. */
export function isFinished({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** What a failure leaves in the record; the cause behind it stays out. */
export function failureOf({ code, reason, message, detail }: Fault): TaskFailure {
  return { code, message, detail, ...(reason === undefined ? {} : { reason }) };
}

/** The outcome of a finished record; throws the Fault that it failed with. */
export function outcomeOf(record: TaskRecord): TaskOutcome {
  const { taskId, failure, result, agentId, createdAtMs, finishedAtMs = createdAtMs } = record;
  if (record.status === 'completed') {
    return {
      taskId,
      status: 'completed',
      result: result === undefined ? null : (JSON.parse(result) as unknown),
      durationMs: finishedAtMs - createdAtMs,
      executedBy: agentId,
    };
  }
  if (record.status === 'cancelled' && !failure) throw cancelledFault(taskId);
  const { code = 'internal', message = 'the task failed', detail, reason } = failure ?? {};
  throw new Fault(code, message, {
    detail: { ...detail, taskId },
    ...(reason === undefined ? {} : { reason }),
  });
}

/** A task that has ended, for those who tell of it or count. */
export interface EndedTask {
  readonly taskId: string;
  readonly agentId: string;
  readonly type: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly durationMs: number;
}

/** The end that a finished record states; what is not known to be else has failed. */
export function endOf(record: TaskRecord): EndedTask {
  const { taskId, agentId, type, status, createdAtMs, finishedAtMs = createdAtMs } = record;
  return {
    taskId,
    agentId,
    type,
    status: status === 'completed' || status === 'cancelled' ? status : 'failed',
    durationMs: Math.max(0, finishedAtMs - createdAtMs),
  };
}

/** Somebody else has taken the task over and tells of its end. */
export class TaskTakenOver extends Error {}

/** The refusal of a task that somebody called off. */
export function cancelledFault(taskId: string): Fault {
  return new Fault('cancelled', 'the task was cancelled', {
    reason: 'task_cancelled',
    detail: { taskId },
  });
}

/** The refusal of a task for an agent that is offline or has gone. */
export function agentOfflineFault(agentId: string, message = 'the agent is offline'): Fault {
  return new Fault('unavailable', message, { reason: 'agent_offline', detail: { agentId } });
}

/** The end of a task whose agent was deregistered, or whose id is somebody else's now. */
export function agentGoneFault(agentId: string): Fault {
  return agentOfflineFault(agentId, 'the agent has gone');
}

/** The end of a task whose process ended without a word. */
export function interruptedFault(taskId: string): Fault {
  return new Fault(
    'upstream',
    'the task was interrupted; whether it was begun, and what came of it, is unknown',
    {
      reason: 'task_interrupted',
      detail: { taskId },
    },
  );
}

/** The refusal of what nobody was asked for yet, or somebody still waits for. */
export function stoppingFault(): Fault {
  return new Fault('unavailable', 'the service is stopping', { retryAfter: 5 });
}

/** The refusal of a task that took longer than it may. */
export function deadlineFault(taskId: string): Fault {
  return new Fault('deadline', 'the task was not done in time', {
    reason: 'task_deadline',
    detail: { taskId },
  });
}
