import type { Activity } from '../activity/activity.ts';
import { Fault } from '../../kit/errors.ts';
import type { TaskOutcome } from './task.ts';
import type { TaskJournal } from './task-journal.ts';
import type { EndedTask, TaskRecord } from './task-record.ts';
import type { TaskRun } from './task-run.ts';

export interface EndWatchers {
  readonly activity: Activity;
  readonly onEnd?: (ended: EndedTask) => void;
}

/** A task that was called off says nothing of how its agent does. */
const eventTypes = {
  completed: 'task-executed',
  failed: 'task-failed',
  cancelled: 'task-cancelled',
} as const;

/** Tells of the end of a task. */
export function tellEnd(
  { activity, onEnd }: EndWatchers,
  { taskId, agentId, task }: TaskRun,
  { status, durationMs }: Pick<EndedTask, 'status' | 'durationMs'>,
): void {
  activity.tell(eventTypes[status], agentId, {
    taskId,
    duration: durationMs,
    status,
    type: task.type,
  });
  onEnd?.({ agentId, status, durationMs });
}

/** How a finished record ended; what is not known to be else has failed. */
export function endOf({ status }: Pick<TaskRecord, 'status'>): EndedTask['status'] {
  return status === 'completed' || status === 'cancelled' ? status : 'failed';
}

/**
 * The record that an agent's answer made before its task was given up here: the agent of an inbox may
 * have answered at another process, whose signal has not come.
 */
export async function answerBefore(
  { isInbox, signal, taskId }: TaskRun,
  journal: Pick<TaskJournal, 'read'>,
): Promise<TaskRecord | undefined> {
  if (!isInbox || !signal.aborted) return undefined;
  const stored = await journal.read(taskId).catch(() => undefined);
  const isAnswer = stored?.status === 'completed' || stored?.failure?.reason === 'agent_failed';
  return isAnswer ? stored : undefined;
}

/** Whether a run ended because it was called off. */
export async function wasCalledOff(outcome: Promise<TaskOutcome> | undefined): Promise<boolean> {
  try {
    await outcome;
    return false;
  } catch (error) {
    return Fault.from(error).code === 'cancelled';
  }
}
