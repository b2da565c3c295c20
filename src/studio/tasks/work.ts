import type { Span } from '../../kit/trace/trace.ts';
import type { StoredTask } from './stored-task.ts';
import type { AgentAnswer, Artefact, TaskFailure } from './task.ts';

/** What came of an attempt. */
export type AttemptOutcome =
  | {
      readonly status: 'completed';
      readonly result: Omit<AgentAnswer, 'artefacts'>;
      readonly artefacts: readonly Artefact[];
    }
  | {
      readonly status: 'failed';
      readonly failure: TaskFailure;
      /** Whether another attempt may end better, because the agent is not to blame. */
      readonly isRetryable: boolean;
    };

export interface Beginning {
  /** Ends the repetitions; a request that is on its way is not aborted, so that nothing begins unknown. */
  readonly signal: AbortSignal;
  /** Aborts the request too: somebody else goes on with the same key. */
  readonly leaving: AbortSignal;
  readonly parent: Span;
}

/** Where tasks are done: by agents over the mesh, or by the workflow service. */
export interface Work {
  /**
   * What is done for an attempt, once it is durable there; the same however often it is asked for. An
   * outcome where it is refused. Rejects only when a signal aborts.
   */
  begin(task: StoredTask, beginning: Beginning): Promise<string | AttemptOutcome>;
  /** What comes of it; rejects only when the signal aborts. */
  outcome(runId: string, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Calls it off, or finds what came of it before; rejects only when the signal aborts. */
  cancel(runId: string, signal: AbortSignal): Promise<AttemptOutcome | undefined>;
}

/** Stands for an attempt wherever and however often it is asked for. */
export function attemptKeyOf({ id, attempt }: StoredTask): string {
  return `${id}:${attempt}`;
}

/** An outcome that nothing makes better. */
export function failed(code: string, message: string): AttemptOutcome {
  return { status: 'failed', failure: { code, message }, isRetryable: false };
}

/** An outcome that another attempt may make better. */
export function interrupted(code: string, message: string): AttemptOutcome {
  return { status: 'failed', failure: { code, message }, isRetryable: true };
}
