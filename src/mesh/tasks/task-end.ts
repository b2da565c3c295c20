import type { Activity } from '../activity/activity.ts';
import type { EndedTask } from './task-record.ts';
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
