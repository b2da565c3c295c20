import { Fault } from '../../kit/errors.ts';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import type { Priority, Task, TaskOutcome, TaskTarget } from './task.ts';
import { outcomeOf, type TaskRecord } from './task-record.ts';

/** A request for a task, whichever way it came. */
export interface TaskRequest {
  readonly targetAgent?: string | undefined;
  readonly task: {
    readonly type: string;
    readonly capability?: string | undefined;
    readonly input?: Readonly<Record<string, unknown>> | undefined;
    /** Milliseconds; 30,000 when absent. */
    readonly timeout?: number | undefined;
    readonly priority?: Priority | undefined;
  };
}

const timeoutMsDefault = 30_000;

/** Who a request's task is for. */
export function targetOf({ targetAgent, task }: TaskRequest): TaskTarget {
  if (targetAgent !== undefined) return { agentId: targetAgent };
  return { capability: task.capability ?? task.type };
}

/** The task of a request; throws `invalid` for an input with a number that would not arrive. */
export function taskOf({ task }: TaskRequest): Omit<Task, 'taskId'> {
  const { type, input = {}, timeout = timeoutMsDefault, priority = 'normal' } = task;
  if (!hasFiniteNumbers(input)) {
    throw new Fault('invalid', 'a number in task.input is too large', {
      reason: 'validation_error',
      detail: { param: 'task.input' },
    });
  }
  return { type, input, timeoutMs: timeout, priority };
}

/** The key itself; throws `invalid` when it is none. */
export function checkIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Fault('invalid', 'an idempotency key has 1 to 255 visible characters', {
    reason: 'validation_error',
    detail: { param: 'Idempotency-Key' },
  });
}

/** An outcome as the interface has it. */
export function toOutcome({ taskId, status, result, durationMs, executedBy }: TaskOutcome) {
  return { taskId, status, result, duration: Math.round(durationMs), executedBy };
}

/** A task's state as it is read. */
export function toState(record: TaskRecord) {
  const { taskId, status, type, priority, failure, agentId, result } = record;
  const { createdAtMs, deadlineAtMs, finishedAtMs } = record;
  return {
    taskId,
    status,
    type,
    priority,
    ...(status === 'completed' && result !== undefined && { result: outcomeOf(record).result }),
    ...(failure && {
      error: {
        code: (failure.reason ?? failure.code).toUpperCase(),
        message: failure.message,
        details: { ...failure.detail },
      },
    }),
    ...(finishedAtMs !== undefined && { duration: Math.round(finishedAtMs - createdAtMs) }),
    ...(agentId !== '' && { executedBy: agentId }),
    createdAt: new Date(createdAtMs).toISOString(),
    deadlineAt: new Date(deadlineAtMs).toISOString(),
    ...(finishedAtMs !== undefined && { finishedAt: new Date(finishedAtMs).toISOString() }),
  };
}
