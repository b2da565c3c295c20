import type { StudioTask, WorkspaceExtras } from './task.ts';

/** A task as it is kept. */
export interface StoredTask extends StudioTask {
  /** Rises with each change; of two states the higher one holds. */
  readonly version: number;
  readonly extras: WorkspaceExtras;
  readonly traceparent?: string;
  /** How often its agent had been started again when it got the task. */
  readonly agentRestarts?: number;
  /** The mesh's task, or the workflow's execution, of the attempt. */
  readonly runId?: string;
}

/** A task without what may be large. */
export type OpenTask = Omit<StoredTask, 'input' | 'extras' | 'result' | 'artefacts'>;

/** Whether nothing changes it any more. */
export function hasEnded({ status }: Pick<StudioTask, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/** The task without what may be large, for memory. */
export function toOpen(task: OpenTask): OpenTask {
  const {
    input: _input,
    extras: _extras,
    result: _result,
    artefacts: _artefacts,
    ...open
  } = task as OpenTask & Partial<StoredTask>;
  return open;
}
