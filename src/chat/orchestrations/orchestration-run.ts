import { failSpan, SpanKind, type Span, type Tracer } from '../../kit/trace/trace.ts';
import { parseTraceparent } from '../../kit/trace/trace-context.ts';
import { Fault } from '../../kit/errors.ts';
import { sharedAbort } from '../../kit/shared-abort.ts';
import type { OrchestrationWrite } from './orchestration-store.ts';
import type { AgentProgress } from './orchestration.ts';
import { progressOf } from './step-progress.ts';
import { taskOf } from './step-task.ts';
import type { StepOutcome, StepTasks } from './step-tasks.ts';
import {
  hasEnded,
  statusOf,
  type StoredOrchestration,
  type StoredStep,
} from './stored-orchestration.ts';

/** Parts of an orchestration that run at the same time at most. */
export const parallelMax = 16;

export interface RunOptions {
  readonly tasks: StepTasks;
  /** Resolves once it is durable; false when the orchestration is no longer this run's. */
  readonly save: (write: OrchestrationWrite) => Promise<boolean>;
  readonly tell: (progress: AgentProgress) => void;
  readonly tracer: Tracer;
  readonly now: () => number;
  /** `traceparent` of the request, while its process lives. */
  readonly traceparent?: string | undefined;
}

/** How long the mesh may take to say what became of what is called off. */
const callingOffMs = 3_000;

/** One orchestration from its start, or from where a dead process left it, to its end. */
export class OrchestrationRun {
  readonly id: string;
  readonly epoch: number;
  readonly #stored: StoredOrchestration;
  readonly #options: RunOptions;
  /** No further step begins, and none is waited for. */
  readonly #stop = sharedAbort();
  /** What the mesh does is somebody else's from then on. */
  readonly #leave = sharedAbort();
  readonly #steps: StoredStep[];
  #isEnding = false;

  constructor(stored: StoredOrchestration, options: RunOptions) {
    this.id = stored.id;
    this.epoch = stored.epoch;
    this.#stored = stored;
    this.#options = options;
    this.#steps = [...stored.steps];
  }

  /** Resolves when it has ended, or is no longer this process's; never rejects. */
  async run(): Promise<void> {
    const leftMs = this.#stored.deadlineAtMs - this.#options.now();
    if (leftMs <= 0) return this.#endAtDeadline();
    let endAtDeadline: Promise<void> | undefined;
    const atDeadline = (): void => {
      endAtDeadline = this.#endAtDeadline();
    };
    const timer = setTimeout(atDeadline, leftMs);
    await this.#workAll();
    clearTimeout(timer);
    await endAtDeadline;
  }

  /** Lets go of it: what the mesh does goes on, for whoever takes it over. */
  abandon(): void {
    this.#stop.abort();
    this.#leave.abort();
  }

  /** Lets go of it because its owner ended it, and calls off what runs. */
  async callOff(): Promise<void> {
    this.#isEnding = true;
    this.#stop.abort();
    await this.#callOffRunning();
  }

  async #workAll(): Promise<void> {
    const width = this.#stored.isParallel ? parallelMax : 1;
    // Those that a dead process began come first.
    const begun = this.#steps.filter(({ status }) => status === 'running');
    const lanes = begun.map((step) => this.#work(step));
    while (lanes.length < width) lanes.push(this.#work(undefined));
    await Promise.all(lanes);
  }

  /** One lane: a step after the other, until there is none left that nobody began. */
  async #work(begun: StoredStep | undefined): Promise<void> {
    try {
      let step = begun ?? (await this.#begin());
      while (step && !this.#stop.signal.aborted) step = await this.#goOnBehind(step);
    } catch (error) {
      // Whoever stopped it sees to the rest.
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  /** The next step nobody began, once that is durable. */
  async #begin(): Promise<StoredStep | undefined> {
    const next = this.#takeNext();
    if (!next) return undefined;
    return (await this.#save([next])) ? next : undefined;
  }

  /** Does a step, and writes its end together with the beginning of the next. */
  async #goOnBehind(step: StoredStep): Promise<StoredStep | undefined> {
    const outcome = await this.#perform(step);
    this.#stop.signal.throwIfAborted();
    const ended = this.#settle(step.place, outcome);
    const next = this.#takeNext();
    const isKept = await this.#save(next ? [ended, next] : [ended]);
    if (!isKept) return undefined;
    this.#tell(ended);
    return next;
  }

  async #perform(step: StoredStep): Promise<StepOutcome> {
    const { signal } = this.#stop;
    const span = this.#startSpan(step);
    try {
      const outcome = await this.#performWithin(step, span);
      const { error } = outcome;
      if (error) failSpan(span, new Fault('upstream', `${error.code}: ${error.message}`));
      return outcome;
    } catch (error) {
      if (!signal.aborted) failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  async #performWithin(step: StoredStep, parent: Span): Promise<StepOutcome> {
    const { tasks } = this.#options;
    const { signal } = this.#stop;
    let { taskId } = step;
    if (taskId === undefined) {
      const task = taskOf(this.#stored, step, this.#steps);
      const leaving = this.#leave.signal;
      const handed = await tasks.handOver(task, { signal, leaving, parent });
      if (typeof handed !== 'string') return handed;
      taskId = handed;
      if (signal.aborted) await this.#callOffLate(taskId);
      else this.#noteTask(step.place, taskId);
    } else {
      // Begun by a process that died: whose it is has to be known here too before it ends.
      this.#tell(step);
    }
    return tasks.outcome(taskId, signal);
  }

  /** Its orchestration has ended meanwhile, unless somebody else goes on with it. */
  async #callOffLate(taskId: string): Promise<void> {
    if (this.#leave.signal.aborted) return;
    await this.#options.tasks.cancel(taskId, AbortSignal.timeout(callingOffMs));
  }

  /** Not waited for: asking again finds the same task. */
  #noteTask(place: number, taskId: string): void {
    const noted = this.#replace(place, { taskId });
    this.#tell(noted);
    void this.#options.save({ id: this.id, epoch: this.epoch, steps: [noted] }).catch(() => {});
  }

  #startSpan({ agentId, place, taskType }: StoredStep): Span {
    return this.#options.tracer.start(`orchestrate ${taskType}`, {
      kind: SpanKind.INTERNAL,
      parent: parseTraceparent(this.#options.traceparent),
      attributes: {
        'orchestration.id': this.id,
        'orchestration.step': place,
        'orchestration.agent': agentId,
      },
    });
  }

  #takeNext(): StoredStep | undefined {
    const next = this.#steps.find(({ status }) => status === 'pending');
    return (
      next && this.#replace(next.place, { status: 'running', startedAtMs: this.#options.now() })
    );
  }

  #settle(place: number, { status, result, error }: StepOutcome): StoredStep {
    return this.#replace(place, {
      status,
      ...(result !== undefined && { result }),
      ...(error && { error }),
      endedAtMs: this.#options.now(),
    });
  }

  #replace(place: number, change: Partial<StoredStep>): StoredStep {
    const index = this.#steps.findIndex((step) => step.place === place);
    const step = this.#steps[index];
    if (!step) throw new Error(`orchestration ${this.id} has no step ${place}`);
    const changed = { ...step, ...change };
    this.#steps[index] = changed;
    return changed;
  }

  /** With the end of the whole where these were the last. */
  #save(steps: readonly StoredStep[]): Promise<boolean> {
    const { id, epoch } = this;
    const isLast = this.#steps.every(hasEnded);
    const end = isLast ? { status: statusOf(this.#steps), atMs: this.#options.now() } : undefined;
    return this.#options.save({ id, epoch, steps, end });
  }

  #tell(step: StoredStep): void {
    this.#options.tell(progressOf(this.#stored, step, this.#steps));
  }

  async #endAtDeadline(): Promise<void> {
    if (this.#isEnding || this.#stop.signal.aborted || this.#steps.every(hasEnded)) return;
    this.#isEnding = true;
    this.#stop.abort();
    const outcomes = await this.#callOffRunning();
    const late = this.#steps.filter((step) => !hasEnded(step));
    const ended = late.map(({ place }) => this.#settle(place, outcomes.get(place) ?? outOfTime));
    if (await this.#save(ended).catch(() => false)) for (const step of ended) this.#tell(step);
  }

  /** What the mesh says of the steps that ran, by their places; some complete just before. */
  async #callOffRunning(): Promise<ReadonlyMap<number, StepOutcome>> {
    const signal = AbortSignal.timeout(callingOffMs);
    const outcomes = new Map<number, StepOutcome>();
    const running = this.#steps.filter(({ status }) => status === 'running');
    await Promise.all(
      running.map(async ({ place, taskId }) => {
        if (taskId === undefined) return;
        const outcome = await this.#options.tasks.cancel(taskId, signal);
        // One that was called off by this run was so because of the time.
        if (outcome && outcome.status !== 'cancelled') outcomes.set(place, outcome);
      }),
    );
    return outcomes;
  }
}

const outOfTime: StepOutcome = {
  status: 'cancelled',
  error: { code: 'ORCHESTRATION_DEADLINE', message: 'the orchestration was out of time' },
};
