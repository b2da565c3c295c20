import { Fault } from '../../kit/errors.ts';

/** Fault `not_found`; also of what the caller may not see. */
export function taskNotFound(taskId: string): Fault {
  return new Fault('not_found', 'there is no such task', {
    reason: 'task_not_found',
    detail: { taskId },
  });
}

/** Fault `conflict` of a task that nothing changes any more. */
export function taskFinished(taskId: string): Fault {
  return new Fault('conflict', 'the task has ended', {
    reason: 'task_finished',
    detail: { taskId },
  });
}

/** Fault `conflict` of a key that stands for another request. */
export function keyReused(taskId: string): Fault {
  return new Fault('conflict', 'the idempotency key was used for another task', {
    reason: 'idempotency_key_reused',
    detail: { taskId },
  });
}

/** Fault `exhausted` when no more tasks may be open. */
export function tooManyTasks(openMax: number): Fault {
  return new Fault('exhausted', `${openMax} tasks are open already`, {
    reason: 'too_many_tasks',
    retryAfter: 10,
  });
}

/** Fault `invalid` of a task that could never be done. */
export function notDoable(
  reason: string,
  message: string,
  detail: Readonly<Record<string, unknown>> = {},
): Fault {
  return new Fault('invalid', message, { reason, detail });
}
