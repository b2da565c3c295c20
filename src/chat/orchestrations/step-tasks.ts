import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { patiently } from '../../kit/time/patience.ts';
import type { Span } from '../../kit/trace/trace.ts';
import type { meshContract } from '../../mesh/contract.ts';
import type { StepStatus } from './orchestration.ts';

/** What has agents do tasks, as this service itself. */
export type TaskClient = Pick<
  Client<typeof meshContract>,
  'executeTask' | 'readTask' | 'cancelTask'
>;

/** A step's task as the mesh is asked for it: each time to the letter, so that it is done once. */
export interface StepTask {
  /** Stands for the step wherever and however often it is asked for. */
  readonly key: string;
  readonly agentId: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** What came of a step. */
export interface StepOutcome {
  readonly status: Extract<StepStatus, 'completed' | 'failed' | 'cancelled'>;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface HandingOver {
  /** Ends the repetitions. */
  readonly signal: AbortSignal;
  readonly leaving: AbortSignal;
  readonly parent: Span;
}

type TaskState = Awaited<ReturnType<TaskClient['readTask']>>;

const handOverMs = 15_000;
const waitSeconds = 30;

/** Has the mesh do the steps' tasks, however often it is away meanwhile. */
export class StepTasks {
  readonly #mesh: TaskClient;

  constructor(mesh: TaskClient) {
    this.#mesh = mesh;
  }

  /**
   * The mesh's task, once it is durable there; an outcome where the mesh refuses it. A request that is
   * on its way is not aborted with `signal`, only with `leaving`, so that no task is begun unknown.
   */
  async handOver(task: StepTask, handing: HandingOver): Promise<string | StepOutcome> {
    const { signal, leaving, parent } = handing;
    const { agentId: targetAgent, type, input, timeoutMs: timeout, key } = task;
    const body = { targetAgent, task: { type, input, timeout, priority: 'normal' as const } };
    const headers = { 'idempotency-key': key, prefer: 'respond-async' };
    const options = { headers, signal: leaving, timeoutMs: handOverMs, parent };
    const asking = () => this.#mesh.executeTask({ body }, options);
    const answer = await patiently(asking, signal);
    return answer instanceof Fault ? failedWith(answer) : answer.taskId;
  }

  /** What comes of a task; rejects only when the signal aborts. */
  async outcome(taskId: string, signal: AbortSignal): Promise<StepOutcome> {
    for (;;) {
      const state = await patiently(
        () => this.#read(taskId, { wait: waitSeconds, signal }),
        signal,
      );
      if (state instanceof Fault) return failedWith(state);
      const outcome = outcomeOf(state);
      if (outcome) return outcome;
    }
  }

  /** Calls a task off, or finds what came of it just before; undefined when the mesh says neither. */
  async cancel(taskId: string, signal: AbortSignal): Promise<StepOutcome | undefined> {
    const options = { signal, timeoutMs: handOverMs };
    const cancelling = () => this.#mesh.cancelTask({ params: { taskId } }, options);
    try {
      const state = await patiently(cancelling, signal);
      if (!(state instanceof Fault)) return outcomeOf(state);
      return outcomeOf(await this.#read(taskId, { wait: 0, signal }));
    } catch {
      return undefined;
    }
  }

  #read(
    taskId: string,
    { wait, signal }: { readonly wait: number; readonly signal: AbortSignal },
  ): Promise<TaskState> {
    const timeoutMs = wait * 1_000 + 10_000;
    const options = { signal, timeoutMs, trace: 'none' as const };
    return this.#mesh.readTask({ params: { taskId }, query: { wait } }, options);
  }
}

function outcomeOf({ status, result, error, taskId }: TaskState): StepOutcome | undefined {
  if (status === 'completed') return { status, result: result ?? null };
  if (status !== 'failed' && status !== 'cancelled') return undefined;
  const { code = `TASK_${status.toUpperCase()}`, message = `the task ${taskId} ${status}` } =
    error ?? {};
  return { status, error: { code, message: wordsOf(message, error?.details) } };
}

/** The mesh keeps an agent's own words apart. */
function wordsOf(message: string, details: { readonly agentError?: unknown } = {}): string {
  const { agentError } = details;
  return typeof agentError === 'string' && agentError !== ''
    ? `${message}: ${agentError}`
    : message;
}

function failedWith({ code, reason, message }: Fault): StepOutcome {
  return { status: 'failed', error: { code: (reason ?? code).toUpperCase(), message } };
}
