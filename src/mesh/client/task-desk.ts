import { Fault } from '../../kit/errors.ts';
import type { Priority } from '../tasks/task.ts';

/** A task as an agent gets it. */
export interface AgentTask {
  readonly taskId: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly priority: Priority;
  /** Milliseconds that are left. */
  readonly timeout: number;
  readonly traceparent?: string | undefined;
  /** The subject that asks, as the inbox tells it; other ways do not. */
  readonly askedBy?: string | undefined;
}

export interface TaskContext {
  /** Aborted when the task is called off or out of time. */
  readonly signal: AbortSignal;
  /** For the calls that the task causes. */
  readonly traceparent: string | undefined;
}

export type TaskWork = (task: AgentTask, context: TaskContext) => unknown;

const handBackReason = 'task_handed_back';

/**
 * What work throws that was stopped because its agent ends: from an inbox the task is not answered, and
 * the mesh ends it as `agent_offline` once the agent has left; over HTTP it counts as not begun.
 */
export function handBack(): Fault {
  return new Fault('unavailable', 'the agent ends and hands the task back', {
    reason: handBackReason,
  });
}

/** Whether work ended with `handBack`. */
export function isHandedBack(error: unknown): boolean {
  return error instanceof Fault && error.reason === handBackReason;
}

const rememberedMax = 1_000;

interface OpenTask {
  readonly controller: AbortController;
  readonly outcome: Promise<unknown>;
}

/** Does tasks, each once even when it comes twice, and no more at a time than the agent wants. */
export class TaskDesk {
  readonly #work: TaskWork;
  readonly #concurrency: number;
  readonly #open = new Map<string, OpenTask>();
  readonly #done = new Map<string, Promise<unknown>>();

  constructor(work: TaskWork, concurrency: number) {
    this.#work = work;
    this.#concurrency = concurrency;
  }

  get freeCount(): number {
    return Math.max(0, this.#concurrency - this.#open.size);
  }

  /** 0..1 */
  get load(): number {
    return Math.min(1, this.#open.size / this.#concurrency);
  }

  /** What came of a task before, or comes of it now. */
  find(taskId: string): Promise<unknown> | undefined {
    return this.#open.get(taskId)?.outcome ?? this.#done.get(taskId);
  }

  /** Does a task; rejects with `exhausted` when too many are open. */
  perform(task: AgentTask): Promise<unknown> {
    const { taskId } = task;
    const known = this.find(taskId);
    if (known) return known;
    if (this.freeCount === 0) {
      return Promise.reject(new Fault('exhausted', 'the agent is busy', { retryAfter: 1 }));
    }
    const controller = new AbortController();
    const outcome = this.#perform(task, controller).finally(() => this.#remember(taskId, outcome));
    this.#open.set(taskId, { controller, outcome });
    return outcome;
  }

  /** Calls a task off; false when it is not open. */
  cancel(taskId: string): boolean {
    const task = this.#open.get(taskId);
    task?.controller.abort(new Fault('cancelled', 'the task was cancelled'));
    return task !== undefined;
  }

  /** Calls off whatever is open, and waits for it. */
  async close(): Promise<void> {
    const open = [...this.#open];
    for (const [taskId] of open) this.cancel(taskId);
    await Promise.allSettled(open.map(([, { outcome }]) => outcome));
  }

  async #perform(task: AgentTask, controller: AbortController): Promise<unknown> {
    const timer = setTimeout(
      () => controller.abort(new Fault('deadline', 'the task is out of time')),
      Math.min(task.timeout, 2 ** 31 - 1),
    );
    try {
      const { signal } = controller;
      return (await this.#work(task, { signal, traceparent: task.traceparent })) ?? null;
    } finally {
      clearTimeout(timer);
    }
  }

  #remember(taskId: string, outcome: Promise<unknown>): void {
    this.#open.delete(taskId);
    this.#done.set(taskId, outcome);
    if (this.#done.size <= rememberedMax) return;
    const [oldest] = this.#done.keys();
    if (oldest !== undefined) this.#done.delete(oldest);
  }
}
