import type { Activity } from '../activity/activity.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { TaskOutcome } from './task.ts';
import type { TaskJournal } from './task-journal.ts';
import type { EndedTask, TaskRecord } from './task-record.ts';
import type { TaskRun } from './task-run.ts';
import type { TaskSignals } from './task-signals.ts';

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

/** Tells of the end of a task; whoever writes it does, so that it is told once. */
export function tellEnd({ activity, onEnd }: EndWatchers, ended: EndedTask): void {
  const { taskId, agentId, type, status, durationMs } = ended;
  activity.tell(eventTypes[status], agentId, { taskId, duration: durationMs, status, type });
  onEnd?.(ended);
}

export interface EndWriting {
  readonly journal: Pick<TaskJournal, 'note' | 'store'>;
  readonly signals: TaskSignals;
  readonly log: Log;
}

/**
 * Writes how a run has ended, unless somebody else has: then false. What others can ask for or end is
 * durable before anybody knows; the rest soon is.
 */
export async function writeEnd(
  { taskId, isDurable, isInbox }: TaskRun,
  record: TaskRecord,
  { journal, signals, log }: EndWriting,
): Promise<boolean> {
  if (!isDurable && !isInbox) {
    journal.note(record);
    return true;
  }
  const isEnd = await journal.store(record).catch((err: unknown) => {
    log.error({ err, taskId }, 'the end of a task was not recorded');
    return true;
  });
  if (isEnd) signals.tell({ kind: 'finished', taskId });
  return isEnd;
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
