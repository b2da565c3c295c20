import { createHash } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Agent } from '../agents/agent.ts';
import type { RunOptions, Task, TaskOutcome, TaskTarget } from './task.ts';
import { CallFailure } from './caller.ts';
import type { WaitingTask } from './waiting-store.ts';
import {
  agentGoneFault,
  cancelledFault,
  deadlineFault,
  failureOf,
  interruptedFault,
  stoppingFault,
  type TaskRecord,
} from './task-record.ts';

/** One task from its asking to its end. */
export class TaskRun {
  readonly taskId: string;
  readonly target: TaskTarget;
  readonly task: Task;
  readonly askedBy: string;
  readonly idempotencyKey: string | undefined;
  readonly traceparent: string | undefined;
  readonly requestHash: string | undefined;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  /** Settles when the run has ended; set by whoever begins it. */
  outcome: Promise<TaskOutcome> | undefined;
  /** Whether its record was durable before it began. */
  isDurable = false;
  /** Whether its agent comes for it: then it outlives this process. */
  isInbox = false;
  /** Whether an agent was or is being asked: then nobody asks for it again. */
  isBegun = false;
  /** When its agent answered, where that was known later. */
  finishedAtMs: number | undefined;
  /** Whether somebody waits here for its outcome. */
  isAwaited = false;
  /** Whether it began at another process, which has ended. */
  readonly isTakenOver: boolean;
  /** The last agent that was asked. */
  agentId = '';
  /** Whose that agent was when it was asked. */
  ownerId = '';
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #stopListening = () => {};

  constructor(
    target: TaskTarget,
    task: Omit<Task, 'taskId'>,
    { taken, ...options }: RunOptions & { readonly taken?: WaitingTask } = {},
  ) {
    this.taskId = taken?.taskId ?? newId('tsk');
    this.createdAtMs = taken?.createdAtMs ?? Date.now();
    this.isTakenOver = taken !== undefined;
    this.isDurable = taken !== undefined;
    this.target = target;
    this.task = { taskId: this.taskId, ...task };
    this.askedBy = options.askedBy ?? '';
    this.traceparent = options.traceparent;
    this.idempotencyKey = options.idempotencyKey;
    if (options.idempotencyKey !== undefined) {
      this.requestHash = options.fingerprint ?? hashOf(target, task);
    }
    this.deadlineAtMs = this.createdAtMs + task.timeoutMs;
    if ('agentId' in target) this.agentId = target.agentId;
    if ('agentId' in target) this.ownerId = target.ownerId ?? '';
  }

  /** A task that another process had, from where that one left it. */
  static takeOver(taken: WaitingTask): TaskRun {
    const { agentId, ownerId, capability, deadlineAtMs, createdAtMs } = taken;
    const { type, input, priority, askedBy, idempotencyKey, requestHash, traceparent } = taken;
    const target = capability === undefined ? { agentId, ownerId } : { capability };
    const task = { type, input, priority, timeoutMs: deadlineAtMs - createdAtMs };
    const options = { askedBy, idempotencyKey, fingerprint: requestHash, traceparent };
    return new TaskRun(target, task, { ...options, taken });
  }

  /** Gives the task to an agent; throws `unavailable` when its id has gone to another owner. */
  assign({ agentId, ownerId }: Pick<Agent, 'agentId' | 'ownerId'>): void {
    const isNamed = 'agentId' in this.target;
    if (isNamed && this.ownerId !== '' && this.ownerId !== ownerId) throw agentGoneFault(agentId);
    this.agentId = agentId;
    this.ownerId = ownerId;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts its clock; the caller's signal ends it unless it is `undefined`. */
  begin(signal: AbortSignal | undefined): void {
    const leftMs = Math.max(0, this.deadlineAtMs - Date.now());
    this.#timer = setTimeout(() => this.abort(deadlineFault(this.taskId)), leftMs);
    if (!signal) return;
    const cancel = () => {
      if (isStopping(signal.reason)) this.interrupt();
      else this.abort(cancelledFault(this.taskId));
    };
    signal.addEventListener('abort', cancel, { once: true });
    this.#stopListening = () => signal.removeEventListener('abort', cancel);
    if (signal.aborted) cancel();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  /** Ends it because its process ends: an agent that was asked may have done something. */
  interrupt(): void {
    this.abort(this.isBegun ? interruptedFault(this.taskId) : stoppingFault());
  }

  abort(reason: Fault): void {
    this.#controller.abort(reason);
  }

  /** Its record before it has ended. */
  openRecord(status: 'queued' | 'running'): TaskRecord {
    return { ...this.#facts(), status, leaseUntilMs: Date.now() + leaseMs };
  }

  /** Its first record, with all that others need to take it over. */
  durableRecord(holder: string): TaskRecord {
    const { target, task, traceparent } = this;
    const capability = 'capability' in target ? target.capability : undefined;
    const input = JSON.stringify(task.input);
    return { ...this.openRecord('running'), handOver: { holder, input, capability, traceparent } };
  }

  completedRecord(outcome: TaskOutcome): TaskRecord {
    return {
      ...this.#facts(),
      status: 'completed',
      result: JSON.stringify(outcome.result ?? null),
      finishedAtMs: this.createdAtMs + outcome.durationMs,
    };
  }

  /** A task that nobody began gives its key back: asking again does no harm. */
  failedRecord(fault: Fault, isStarted: boolean): TaskRecord {
    return {
      ...this.#facts(),
      ...(isStarted ? {} : { idempotencyKey: undefined }),
      status: fault.code === 'cancelled' ? 'cancelled' : 'failed',
      failure: failureOf(fault),
      finishedAtMs: Date.now(),
    };
  }

  /** What was thrown as the Fault that the asker gets. */
  faultOf(error: unknown): Fault {
    const thrown = this.signal.aborted ? this.signal.reason : error;
    const fault = thrown instanceof CallFailure ? thrown.fault : Fault.from(thrown);
    const { code, message, reason, retryAfter, cause } = fault;
    const detail = {
      ...(this.agentId === '' ? {} : { agentId: this.agentId }),
      ...fault.detail,
      taskId: this.taskId,
    };
    return new Fault(code, message, {
      detail,
      cause,
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  }

  /** Whether an agent may have done something before it went wrong. */
  mayHaveActed(error: unknown): boolean {
    if (this.signal.aborted) return true;
    if (error instanceof CallFailure) return error.progress !== 'not-started';
    return !(error instanceof Fault && ['not_found', 'unavailable'].includes(error.code));
  }

  /**
   * Whether a task that was accepted and that no agent was asked for waits on: for the next process, or for
   * its agent, which may come back as this process did.
   */
  isLeftToOthers({ code }: Fault, isProcessStopping: boolean): boolean {
    const isHandedOn = isProcessStopping || this.isTakenOver;
    return this.isDurable && !this.isBegun && isHandedOn && code === 'unavailable';
  }

  #facts() {
    const { taskId, askedBy, idempotencyKey, requestHash, agentId, ownerId } = this;
    const { createdAtMs, deadlineAtMs, task } = this;
    const { type, priority } = task;
    return {
      taskId,
      askedBy,
      idempotencyKey,
      requestHash,
      agentId,
      ownerId,
      type,
      priority,
      createdAtMs,
      deadlineAtMs,
    };
  }
}

/** Whether it was the service that gave up, and not its caller. */
function isStopping(reason: unknown): boolean {
  return reason instanceof Fault && reason.code === 'unavailable';
}

function hashOf(target: TaskTarget, task: Omit<Task, 'taskId'>): string {
  const { type, input, timeoutMs, priority } = task;
  const text = JSON.stringify([target, type, input, timeoutMs, priority]);
  return createHash('sha256').update(text).digest('base64url');
}

/** For so long a process that works on a task need not say so again. */
export const leaseMs = 15_000;
