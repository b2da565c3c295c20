import type {
  Orchestration,
  OrchestrationStatus,
  OrchestrationStep,
  StepStatus,
} from './orchestration.ts';

/** A step as it is kept, with what a repetition of it needs. */
export interface StoredStep extends OrchestrationStep {
  /** From 1. */
  readonly place: number;
  /** What the mesh is told that the task is. */
  readonly taskType: string;
}

/** An orchestration with what its run needs; times are milliseconds since the epoch. */
export interface StoredOrchestration {
  readonly id: string;
  readonly ownerId: string;
  readonly task: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly isParallel: boolean;
  readonly status: OrchestrationStatus;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly endedAtMs?: number | undefined;
  /** Who runs it. */
  readonly replica: string;
  /** Goes up when another takes it over: then writes of the former do nothing. */
  readonly epoch: number;
  readonly steps: readonly StoredStep[];
}

/** Whether nothing changes it any more. */
export function hasEnded({ status }: { readonly status: StepStatus }): boolean {
  return status !== 'pending' && status !== 'running';
}

/** What all steps together came to, once each has ended. */
export function statusOf(steps: readonly Pick<StoredStep, 'status'>[]): OrchestrationStatus {
  const completed = steps.filter(({ status }) => status === 'completed').length;
  if (completed === steps.length) return 'completed';
  return completed === 0 ? 'failed' : 'partial';
}

/** As its owner sees it. */
export function toOrchestration(stored: StoredOrchestration): Orchestration {
  const { id, ownerId, task, status, steps, createdAtMs, endedAtMs } = stored;
  return {
    id,
    ownerId,
    task,
    status,
    progress: steps.filter(hasEnded).length / Math.max(1, steps.length),
    steps: steps.map(toStep),
    createdAtMs,
    ...(endedAtMs !== undefined && { endedAtMs }),
  };
}

function toStep(stored: StoredStep): OrchestrationStep {
  const { place: _place, taskType: _taskType, ...step } = stored;
  return step;
}
