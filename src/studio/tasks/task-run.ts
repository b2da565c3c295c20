import type { Agent } from '../agents/agent.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import { failSpan, SpanKind } from '../../kit/trace/trace.ts';
import { Fault } from '../../kit/errors.ts';
import { parseTraceparent } from '../../kit/trace/trace-context.ts';
import { lossOf } from './agent-loss.ts';
import { toOpen, type OpenTask, type StoredTask } from './stored-task.ts';
import { failed, interrupted, type AttemptOutcome, type Work } from './work.ts';

/** Why an attempt ends before its time; `leaving`: somebody else goes on with it. */
export type StopReason = 'cancelled' | 'agent_died' | 'timeout' | 'leaving';

export interface RunOptions {
  readonly work: Work;
  readonly tracer: Tracer;
  /** Resolves with all of the task once its assignment is stored; undefined when it has ended. */
  readonly store: (task: OpenTask) => Promise<StoredTask | undefined>;
  /** Notes that it is done now, as this. */
  readonly note: (task: OpenTask) => void;
}

/** It is the mesh that ends what is late, unless the mesh is away itself. */
const graceMs = 5_000;
const callOffMs = 10_000;

/** One attempt at a task, from its assignment to its outcome. */
export class TaskRun {
  /** As it is stored, or about to be. */
  task: OpenTask;
  readonly #options: RunOptions;
  readonly #ending = new AbortController();
  readonly #leaving = new AbortController();
  #reason: StopReason | undefined;
  #loss = lossOf(undefined);
  #timer: NodeJS.Timeout | undefined;

  constructor(task: OpenTask, options: RunOptions) {
    this.task = task;
    this.#options = options;
  }

  /** Ends it; the first reason counts, but for leaving, which needs no more work. */
  stop(reason: StopReason): void {
    if (reason === 'leaving') this.#leaving.abort();
    if (this.#reason === undefined || reason === 'leaving') this.#reason = reason;
    this.#ending.abort();
  }

  /** Ends it because its agent died, of what it says. */
  lose(agent: Agent | undefined): void {
    this.#loss = lossOf(agent);
    this.stop('agent_died');
  }

  /** What came of it; undefined when that is not this run's to say. */
  async outcome(): Promise<AttemptOutcome | undefined> {
    const { tracer } = this.#options;
    const { id, type, traceparent } = this.task;
    const span = tracer.start(`task ${type}`, {
      kind: SpanKind.INTERNAL,
      parent: parseTraceparent(traceparent),
      attributes: { 'studio.task.id': id },
    });
    try {
      const outcome = await this.#attempt(span);
      if (outcome?.status === 'failed')
        failSpan(span, new Fault('upstream', outcome.failure.message));
      return outcome;
    } finally {
      clearTimeout(this.#timer);
      const { assignedAgent, attempt } = this.task;
      span.setAttribute('studio.task.attempt', attempt);
      if (assignedAgent !== undefined) span.setAttribute('agent.id', assignedAgent);
      span.end();
    }
  }

  async #attempt(parent: ReturnType<Tracer['start']>): Promise<AttemptOutcome | undefined> {
    const stored = await this.#options.store(this.task);
    if (!stored || this.#reason === 'leaving') return undefined;
    this.task = toOpen(stored);
    this.#startClock();
    try {
      const runId = stored.runId ?? (await this.#begin(stored, parent));
      if (typeof runId !== 'string') return runId;
      return await this.#options.work.outcome(runId, this.#ending.signal);
    } catch (error) {
      if (this.#reason === undefined) throw error;
      return await this.#stopped(this.#reason);
    }
  }

  async #begin(
    stored: StoredTask,
    parent: ReturnType<Tracer['start']>,
  ): Promise<string | AttemptOutcome> {
    const { work, note } = this.#options;
    const runId = await work.begin(stored, {
      signal: this.#ending.signal,
      leaving: this.#leaving.signal,
      parent,
    });
    if (typeof runId !== 'string') return runId;
    const { version } = this.task;
    this.task = { ...this.task, status: 'running', runId, version: version + 1 };
    note(this.task);
    return runId;
  }

  #startClock(): void {
    const { startedAtMs = Date.now(), requirements } = this.task;
    const leftMs = startedAtMs + requirements.timeoutMs + graceMs - Date.now();
    this.#timer = setTimeout(() => this.stop('timeout'), Math.max(0, leftMs));
  }

  async #stopped(reason: StopReason): Promise<AttemptOutcome | undefined> {
    if (reason === 'leaving') return undefined;
    const late = await this.#callOff(reason);
    if (this.#leaving.signal.aborted) return undefined;
    if (late?.status === 'completed') return late;
    if (reason === 'timeout') return failed('timeout', 'the task was not done in time');
    if (reason === 'cancelled') return failed('cancelled', 'the task was called off');
    const { code, message } = this.#loss;
    return interrupted(code, message);
  }

  /** Who called a task off is promised that its agent is told; the other ends need not wait so long. */
  async #callOff(reason: StopReason): Promise<AttemptOutcome | undefined> {
    const { runId } = this.task;
    if (runId === undefined) return undefined;
    const { signal: leaving } = this.#leaving;
    const limited = AbortSignal.any([leaving, AbortSignal.timeout(callOffMs)]);
    const signal = reason === 'cancelled' ? leaving : limited;
    return this.#options.work.cancel(runId, signal).catch(() => undefined);
  }
}
