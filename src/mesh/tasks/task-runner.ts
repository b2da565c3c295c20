import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { failSpan, type Tracer } from '../../kit/trace/trace.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import type { Dispatch } from './dispatch.ts';
import type { RunOptions, Task, TaskOutcome, TaskRunner, TaskTarget } from './task.ts';
import { answerBefore, wasCalledOff, writeEnd } from './task-end.ts';
import { TaskCare } from './task-care.ts';
import type { TaskJournal } from './task-journal.ts';
import {
  agentGoneFault,
  cancelledFault,
  deadlineFault,
  endOf,
  isFinished,
  outcomeOf,
  stoppingFault,
  TaskTakenOver,
  type EndedTask,
  type TaskRecord,
} from './task-record.ts';
import { TaskRun } from './task-run.ts';
import type { AgentGone, TaskSignals } from './task-signals.ts';
import { startTaskSpan } from './task-span.ts';
import { untilAborted } from './abortable-work.ts';
import type { WaitingTask } from './waiting-store.ts';
import { endOrLate } from '../../kit/time/time-limits.ts';

export interface TaskRunnerOptions {
  readonly dispatch: Dispatch;
  readonly journal: TaskJournal;
  readonly signals: TaskSignals;
  readonly directory: Pick<AgentDirectory, 'find'>;
  readonly tracer: Tracer;
  readonly log: Log;
  /** Hears of the tasks whose end is written here. */
  readonly tell: (ended: EndedTask) => void;
}

/** A task that is under way. */
export interface StartedTask {
  readonly taskId: string;
  readonly outcome: Promise<TaskOutcome>;
}

/** A task has ended so long after its deadline at the latest. */
const staleMs = 1_500;
/** How long agents that were asked may still answer when the process stops. */
const farewellMs = 3_000;

/** Has agents do tasks; each is a span, an activity event and, for a day, a record. */
export class MeshTaskRunner implements TaskRunner, AsyncDisposable {
  readonly #options: TaskRunnerOptions;
  readonly #runs = new Map<string, TaskRun>();
  readonly #care: TaskCare;
  readonly #stopListening: () => void;
  readonly #stopping = new AbortController();
  #isStopping = false;
  #stopped: Promise<void> | undefined;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    const takeUp = (task: WaitingTask) => this.#takeUp(task);
    this.#care = new TaskCare({ ...options, runs: this.#runs, takeUp });
    this.#stopListening = options.signals.onGone((gone) => this.#endOf(gone));
  }

  async run(
    target: TaskTarget,
    task: Omit<Task, 'taskId'>,
    options: RunOptions = {},
  ): Promise<TaskOutcome> {
    const { signal } = options;
    const run = new TaskRun(target, task, options);
    if (run.idempotencyKey === undefined) {
      run.isAwaited = true;
      return this.#begin(run, signal);
    }
    const { taskId, outcome } = await this.#startKeyed(run, signal);
    const held = this.#runs.get(taskId);
    if (held) held.isAwaited = true;
    return signal ? untilAborted(outcome, signal, () => cancelledFault(run.taskId)) : outcome;
  }

  /** Resolves once the task is durable; it goes on without whoever asked. */
  async start(
    target: TaskTarget,
    task: Omit<Task, 'taskId'>,
    options: Omit<RunOptions, 'signal'> = {},
  ): Promise<StartedTask> {
    const run = new TaskRun(target, task, options);
    if (run.idempotencyKey !== undefined) return this.#startKeyed(run, undefined);
    await this.#options.journal.open(run);
    run.isDurable = true;
    return this.#detach(run, undefined);
  }

  /** The record of a task as it is now. */
  async read(taskId: string): Promise<TaskRecord | undefined> {
    const run = this.#runs.get(taskId);
    if (!run) return this.#options.journal.read(taskId);
    // An inbox is answered at any process, and the run hears of it later.
    const stored = run.isInbox ? await this.#options.journal.read(taskId) : undefined;
    return stored && isFinished(stored) ? stored : run.openRecord('running');
  }

  /** The record once the task has ended, or as it is when the time is up. */
  async finished(
    taskId: string,
    options: { readonly waitMs: number; readonly signal?: AbortSignal },
  ): Promise<TaskRecord | undefined> {
    const { waitMs, signal } = options;
    const run = this.#runs.get(taskId);
    if (run && !run.isDurable) {
      await endOrLate(
        run.outcome?.catch(() => {}),
        waitMs,
      );
      return this.read(taskId);
    }
    return this.#options.journal.finished(taskId, { untilMs: Date.now() + waitMs, signal });
  }

  /** Calls a task off wherever it runs; false when it has ended already. */
  async cancel(taskId: string): Promise<boolean> {
    const run = this.#runs.get(taskId);
    if (run) {
      run.abort(cancelledFault(taskId));
      return wasCalledOff(run.outcome);
    }
    const { journal, signals, tell } = this.#options;
    const ended = await journal.cancel(taskId);
    if (!ended) return false;
    signals.tell({ kind: 'cancelled', taskId });
    signals.tell({ kind: 'finished', taskId });
    tell(ended);
    return true;
  }

  /**
   * Takes no further task and leaves what was accepted and not begun to others. Agents that were asked may
   * answer for a few seconds more, and those of an inbox too where somebody waits; what they do not come to
   * ends as interrupted, in an inbox as `unavailable`. Resolves when everybody who waits has an answer.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#care[Symbol.dispose]();
    this.#stopListening();
    const runs = [...this.#runs.values()];
    const ended = Promise.allSettled(runs.map(async ({ outcome }) => outcome));
    for (const run of runs) {
      const isWaitedFor = run.isBegun || (run.isInbox && run.isAwaited);
      if (!isWaitedFor) run.abort(stoppingFault());
    }
    await endOrLate(ended, farewellMs);
    for (const run of this.#runs.values()) run.interrupt();
    this.#stopping.abort(stoppingFault());
    await ended;
  }

  async #startKeyed(run: TaskRun, signal: AbortSignal | undefined): Promise<StartedTask> {
    const held = await this.#options.journal.claim(run);
    if (held) return this.#join(held, run);
    run.isDurable = true;
    return this.#detach(run, signal);
  }

  /** The task that the key stands for, whoever began it and where. */
  #join(held: TaskRecord, { requestHash }: TaskRun): StartedTask {
    const { taskId } = held;
    if (held.requestHash !== requestHash) {
      throw new Fault('conflict', 'the idempotency key was used for another request', {
        reason: 'idempotency_key_reused',
        detail: { taskId },
      });
    }
    const outcome = this.#runs.get(taskId)?.outcome ?? this.#awaitHeld(held);
    outcome.catch(() => {});
    return { taskId, outcome };
  }

  async #awaitHeld(held: TaskRecord): Promise<TaskOutcome> {
    const { taskId, deadlineAtMs } = held;
    const untilMs = deadlineAtMs + staleMs;
    const { signal } = this.#stopping;
    const record = await this.#options.journal.finished(taskId, { untilMs, signal });
    if (signal.aborted && !(record && isFinished(record))) throw stoppingFault();
    // Whoever had begun it has ended without a word.
    if (!record || !isFinished(record)) throw deadlineFault(taskId);
    return outcomeOf(record);
  }

  #detach(run: TaskRun, signal: AbortSignal | undefined): StartedTask {
    const outcome = this.#begin(run, signal);
    outcome.catch(() => {});
    return { taskId: run.taskId, outcome };
  }

  #begin(run: TaskRun, signal: AbortSignal | undefined): Promise<TaskOutcome> {
    const { taskId } = run;
    this.#runs.set(taskId, run);
    run.begin(signal);
    if (this.#isStopping) run.abort(stoppingFault());
    const stopListening = run.isDurable ? this.#listenForCancel(run) : undefined;
    run.outcome = this.#work(run).finally(() => {
      stopListening?.();
      run.end();
      this.#runs.delete(taskId);
    });
    return run.outcome;
  }

  #listenForCancel(run: TaskRun): () => void {
    const { taskId } = run;
    return this.#options.signals.listen({ kind: 'cancelled', taskId }, () =>
      run.abort(cancelledFault(taskId)),
    );
  }

  async #work(run: TaskRun): Promise<TaskOutcome> {
    const span = startTaskSpan(this.#options.tracer, run);
    try {
      const traceparent = formatTraceparent(span.spanContext());
      const result = await this.#options.dispatch.execute(run, traceparent);
      return await this.#complete(run, result);
    } catch (error) {
      if (error instanceof TaskTakenOver) return await this.#awaitHeld(run.openRecord('running'));
      const fault = run.faultOf(error);
      const answered = await this.#fail(run, fault, run.mayHaveActed(error));
      if (answered) return outcomeOf(answered);
      failSpan(span, fault);
      throw fault;
    } finally {
      span.setAttribute('agent.id', run.agentId);
      span.end();
    }
  }

  #endOf({ agentId, atMs }: AgentGone): void {
    for (const run of this.#runs.values()) {
      if (run.agentId === agentId && run.createdAtMs <= atMs) run.abort(agentGoneFault(agentId));
    }
  }

  #takeUp(task: WaitingTask): void {
    // Here it still waits, but its lease had run out.
    if (!this.#runs.has(task.taskId)) this.#detach(TaskRun.takeOver(task), undefined);
  }

  async #complete(run: TaskRun, result: unknown): Promise<TaskOutcome> {
    const { taskId, agentId, createdAtMs, finishedAtMs = Date.now() } = run;
    const durationMs = Math.max(0, finishedAtMs - createdAtMs);
    const outcome: TaskOutcome = {
      taskId,
      status: 'completed',
      result: result ?? null,
      durationMs,
      executedBy: agentId,
    };
    // Whoever took the answer of an inbox has written and told it.
    if (!run.isInbox) await this.#end(run, run.completedRecord(outcome));
    return outcome;
  }

  /** Records why a run ends; or answers the record that its agent's answer has made meanwhile. */
  async #fail(run: TaskRun, fault: Fault, isStarted: boolean): Promise<TaskRecord | undefined> {
    if (this.#isStopping && run.isInbox && fault.code === 'unavailable') return undefined;
    if (run.isLeftToOthers(fault, this.#isStopping)) {
      await this.#options.journal.release(run.taskId);
      return undefined;
    }
    const isEnd = await this.#end(run, run.failedRecord(fault, isStarted));
    return isEnd ? undefined : answerBefore(run, this.#options.journal);
  }

  /** Writes and tells the end of a run; false when somebody else has. */
  async #end(run: TaskRun, record: TaskRecord): Promise<boolean> {
    const isEnd = await writeEnd(run, record, this.#options);
    // A target that does not exist is no event of an agent.
    const isEvent = record.failure?.code !== 'not_found';
    if (isEnd && isEvent) this.#options.tell(endOf(record));
    return isEnd;
  }
}
