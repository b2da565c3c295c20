import type { TaskRecord } from '../tasks/task-record.ts';
import { writePart, writeState, type A2aState, type A2aVersion, type PlainPart } from './wire.ts';

const states = {
  queued: 'submitted',
  running: 'working',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
} as const satisfies Record<TaskRecord['status'], A2aState>;

export interface ShownTask extends Pick<TaskRecord, 'taskId' | 'status' | 'agentId' | 'failure'> {
  readonly contextId: string;
  /** When it came to be what it is: milliseconds since the epoch. */
  readonly statusAtMs: number;
  /** Of a completed task; parsed. */
  readonly result?: unknown;
}

/** A task of the mesh as a version of A2A writes it. */
export function writeTask(task: ShownTask, version: A2aVersion): Record<string, unknown> {
  const { taskId, contextId, status, statusAtMs, agentId, failure } = task;
  const isLegacy = version === '0.3';
  const message = failure && {
    ...(isLegacy && { kind: 'message' }),
    messageId: `${taskId}-status`,
    role: isLegacy ? 'agent' : 'ROLE_AGENT',
    taskId,
    contextId,
    parts: [writePart({ text: failure.message }, version)],
  };
  return {
    ...(isLegacy && { kind: 'task' }),
    id: taskId,
    contextId,
    status: {
      state: writeState(states[status], version),
      timestamp: new Date(statusAtMs).toISOString(),
      ...(message && { message }),
    },
    ...(status === 'completed' && {
      artifacts: [
        {
          artifactId: 'result',
          name: 'result',
          parts: partsOf(task.result).map((part) => writePart(part, version)),
        },
      ],
    }),
    metadata: { mesh: { executedBy: agentId, ...(failure && { error: failure }) } },
  };
}

/** A result as parts: what is a text goes as one. */
function partsOf(result: unknown): PlainPart[] {
  if (typeof result === 'string') return [{ text: result }];
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    return [{ data: result ?? null }];
  }
  const { text } = result as { readonly text?: unknown };
  if (typeof text !== 'string') return [{ data: result }];
  return Object.keys(result).length === 1 ? [{ text }] : [{ text }, { data: result }];
}
