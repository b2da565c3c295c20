import type { Answer, InputOf } from '../api/contracts.ts';
import { call } from '../api/call.ts';
import { onceOnly } from '../api/request-key.ts';
import { startTrace } from '../api/trace-context.ts';
import { namesIn, readObject } from '../ui/entry-text.ts';

/** The form of a task as it is written. */
export interface TaskDraft {
  /** Empty lets the mesh choose by the capability. */
  readonly targetAgent: string;
  /** Names what is to be done, and the capability where the mesh chooses. */
  readonly type: string;
  readonly inputKind: 'text' | 'json';
  readonly input: string;
  readonly priority: Priority;
  readonly timeoutSeconds: string;
}

type TaskBody = NonNullable<InputOf<'mesh', 'POST /api/v1/tasks/execute'>['body']>;
export type Priority = NonNullable<NonNullable<TaskBody['task']>['priority']>;
export type TaskState = Answer<'mesh', 'GET /api/v1/tasks/:taskId'>;

export const priorities: readonly Priority[] = ['low', 'normal', 'high', 'critical'];

/** A task that was asked for from here. */
export interface TaskRun {
  readonly taskId: string;
  readonly traceId: string;
  readonly type: string;
}

/** What is asked for with a draft; throws a sentence where the draft itself cannot be read. */
export function taskOf(draft: TaskDraft): TaskBody {
  const { targetAgent, type, inputKind, input, priority, timeoutSeconds } = draft;
  const [target] = namesIn(targetAgent);
  return {
    ...(target === undefined ? {} : { targetAgent: target }),
    task: {
      type: type.trim(),
      input: inputKind === 'text' ? { prompt: input } : readObject(input || '{}', 'the input'),
      priority,
      ...(timeoutSeconds === '' ? {} : { timeout: Math.round(Number(timeoutSeconds) * 1_000) }),
    },
  };
}

/** Has the mesh begin a task, in a trace of its own. */
export async function startTask(body: TaskBody): Promise<TaskRun> {
  const { traceId, traceparent } = startTrace();
  const { taskId } = await call('mesh', 'POST /api/v1/tasks/execute', {
    body,
    headers: { ...onceOnly(), prefer: 'respond-async', traceparent },
  });
  return { taskId, traceId, type: body.task?.type ?? '' };
}

/** Whether nothing more will come of a task. */
export function hasEnded({ status }: Pick<TaskState, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
