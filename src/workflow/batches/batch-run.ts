import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { sharedAbort } from '../../kit/shared-abort.ts';
import { readItemInputs } from './item-inputs.ts';
import type { Engine, Execution } from '../engine/execution.ts';
import type { Batch, ItemEnd, ItemTask } from './batch.ts';
import type { BatchSql } from './batch-store.ts';
import { hasEnded, isFatal, isPassing, toEnd } from './item-ends.ts';
import { advance, closeBatch, readRunning } from './run-store.ts';

export interface BatchRunOptions {
  readonly sql: BatchSql;
  readonly engine: Pick<Engine, 'start' | 'wait' | 'cancel' | 'resume'>;
  readonly sealer: Pick<Sealer, 'unseal'>;
  readonly log: Log;
  readonly now: () => number;
  /** Told after each write, with how the batch stands. */
  readonly onProgress: (batch: Batch) => void;
  /** Told before the batch's end is written, at least once, with how it will stand then. */
  readonly onEnd: (batch: Batch) => Promise<void>;
}

/** How a run ended: the batch is over, it is somebody else's, or this process stops. */
export type RunEnd = 'ended' | 'lost' | 'stopped';

/** Starts that are written down with the next end, or after so long. */
const startedDelayMs = 300;
const waitMs = 60_000;
const retryMs = 1_000;
const retryMsMax = 15_000;

/**
 * Runs one batch on this replica: as many items at once as its concurrency, each an execution with
 * the key `<batch>:<index>`, so that an item is never started twice. Holds no more of the batch in
 * memory than the items that run.
 */
export class BatchRun {
  readonly #options: BatchRunOptions;
  readonly #stop = sharedAbort();
  readonly #running = new Map<number, string | undefined>();
  readonly #stopping = new AbortController();
  #batch: Batch;
  #started: { readonly index: number; readonly executionId: string }[] = [];
  #ended: ItemEnd[] = [];
  #wake: () => void = () => {};
  /** Has the starts written down after a while. */
  #hurry: () => void = () => {};
  /** The last item that was taken. */
  #after = -1;
  #isDrained = false;
  readonly done: Promise<RunEnd>;

  constructor(batch: Batch, options: BatchRunOptions) {
    this.#batch = batch;
    this.#options = options;
    this.done = this.#run();
  }

  get batch(): Batch {
    return this.#batch;
  }

  /** Lets go: executions go on, nothing is written any more. */
  abandon(): void {
    this.#stop.abort();
    this.#wake();
  }

  /** Somebody asked for the batch's end; what runs is cancelled. */
  cancel(): void {
    this.#batch = { ...this.#batch, status: 'cancelling' };
    this.#beginStopping();
    this.#wake();
  }

  async #run(): Promise<RunEnd> {
    const { log } = this.#options;
    let failures = 0;
    for (;;) {
      try {
        return await this.#runOnce();
      } catch (err) {
        if (this.#stop.signal.aborted) return 'stopped';
        failures += 1;
        log.warn({ err, batchId: this.#batch.id }, 'a batch waits for the database');
        await this.#pause(Math.min(retryMs * 2 ** (failures - 1), retryMsMax));
      }
    }
  }

  async #runOnce(): Promise<RunEnd> {
    await this.#adopt();
    while (!this.#stop.signal.aborted) {
      if (!(await this.#step())) return 'lost';
      if (this.#running.size === 0 && this.#ended.length === 0 && this.#mayEnd()) {
        return (await this.#close()) ? 'ended' : 'lost';
      }
      await this.#untilNews();
    }
    return 'stopped';
  }

  /** What an earlier owner had begun; after a failed write of our own there is nothing new in it. */
  async #adopt(): Promise<void> {
    const tasks = await readRunning(this.#options.sql, this.#batch.id);
    const known = new Set([...this.#running.keys(), ...this.#ended.map(({ index }) => index)]);
    for (const task of tasks) if (!known.has(task.index)) this.#launch(task);
    if (this.#mustStop()) this.#beginStopping();
  }

  /** False when the batch is somebody else's. */
  async #step(): Promise<boolean> {
    const { sql, now, onProgress } = this.#options;
    const { id, epoch, concurrency } = this.#batch;
    const [started, ended] = [this.#started, this.#ended];
    const mustStop = this.#mustStop() || ended.some(isFatal(this.#batch));
    const take = mustStop ? 0 : Math.max(0, concurrency - this.#running.size);
    const step = { id, epoch, now: new Date(now()), started, ended, take, after: this.#after };
    const result = await advance(sql, step);
    this.#started = this.#started.slice(started.length);
    this.#ended = this.#ended.slice(ended.length);
    if (!result) return false;
    const isCancelling = this.#batch.status === 'cancelling';
    this.#batch = isCancelling ? { ...result.batch, status: 'cancelling' } : result.batch;
    this.#isDrained = take > 0 && result.next.length < take;
    for (const task of result.next) {
      this.#after = task.index;
      this.#launch(task);
    }
    if (this.#mustStop()) this.#beginStopping();
    if (ended.length > 0) onProgress(this.#batch);
    return true;
  }

  async #close(): Promise<boolean> {
    const { sql, now, onEnd } = this.#options;
    const completedAt = new Date(now());
    const { status, rest } = this.#ending();
    const { total, completed, failed, cancelled } = this.#batch;
    const left = total - completed - failed - cancelled;
    const isSkipped = rest === 'skipped';
    await onEnd({
      ...this.#batch,
      status,
      completedAt,
      skipped: isSkipped ? left : 0,
      cancelled: isSkipped ? cancelled : cancelled + left,
    });
    const batch = await closeBatch(sql, this.#batch, { status, rest, now: completedAt });
    if (batch) this.#batch = batch;
    return batch !== undefined;
  }

  #ending() {
    const isCancelling = this.#batch.status === 'cancelling';
    if (isCancelling) return { status: 'cancelled', rest: 'cancelled' } as const;
    return { status: 'completed', rest: 'skipped' } as const;
  }

  #mustStop(): boolean {
    const { status, failureMode, failed } = this.#batch;
    return status === 'cancelling' || (failureMode === 'stop' && failed > 0);
  }

  #mayEnd(): boolean {
    return this.#mustStop() || this.#isDrained;
  }

  #beginStopping(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    for (const executionId of this.#running.values()) {
      if (executionId !== undefined) void this.#cancelExecution(executionId);
    }
  }

  #launch(task: ItemTask): void {
    this.#running.set(task.index, undefined);
    void this.#runToEnd(task);
  }

  async #runToEnd(task: ItemTask): Promise<void> {
    const end = await this.#runItem(task);
    this.#running.delete(task.index);
    if (end) this.#ended = [...this.#ended, end];
    this.#wake();
  }

  /** Never rejects; undefined when this process stops first. */
  async #runItem(task: ItemTask): Promise<ItemEnd | undefined> {
    const { signal } = this.#stop;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const execution = await this.#untilEnded(await this.#start(task));
        if (execution) return toEnd(task.index, execution);
      } catch (error) {
        const fault = Fault.from(error);
        if (!isPassing(fault) || this.#stopping.signal.aborted) {
          return this.#toFailure(task.index, fault);
        }
        await this.#pause(Math.min(retryMs * 2 ** (tries - 1), retryMsMax));
      }
    }
    return undefined;
  }

  /** The item's one execution; taken up again when it had ended badly before the batch was resumed. */
  async #start(task: ItemTask): Promise<Execution> {
    const { engine, sealer } = this.#options;
    const { index } = task;
    const { id, workflowId, version, ownerId, permissions, resumedAt } = this.#batch;
    const execution = await engine.start({
      workflowId,
      version,
      inputs: readItemInputs(task, sealer),
      ownerId,
      permissions,
      trigger: 'batch',
      batch: { id, index },
      idempotencyKey: `${id}:${index}`,
    });
    const { status, completedAtMs } = execution;
    const isOld = completedAtMs !== undefined && completedAtMs <= resumedAt.getTime();
    const isBad = status === 'failed' || status === 'cancelled';
    const current = isBad && isOld ? await engine.resume(execution.id) : execution;
    this.#noteStarted(index, current.id);
    return current;
  }

  #noteStarted(index: number, executionId: string): void {
    this.#running.set(index, executionId);
    this.#started = [...this.#started, { index, executionId }];
    this.#hurry();
    if (this.#stopping.signal.aborted) void this.#cancelExecution(executionId);
  }

  async #untilEnded(started: Execution): Promise<Execution | undefined> {
    const { engine } = this.#options;
    const { signal } = this.#stop;
    let execution = started;
    while (!hasEnded(execution)) {
      if (signal.aborted) return undefined;
      execution = await engine.wait(execution.id, { timeoutMs: waitMs, signal });
    }
    return execution;
  }

  async #cancelExecution(executionId: string): Promise<void> {
    try {
      await this.#options.engine.cancel(executionId, this.#batch.ownerId);
    } catch (error) {
      if (Fault.from(error).code === 'conflict') return;
      this.#options.log.warn({ err: error, executionId }, 'an item could not be cancelled');
    }
  }

  #toFailure(index: number, { code, reason, message }: Fault): ItemEnd {
    const error = { code: (reason ?? code).toUpperCase(), message };
    const none = { executionId: this.#running.get(index), tokensUsed: 0, cost: 0 };
    return { index, status: 'failed', error, ...none };
  }

  /** Until an item ends, something is asked for, or starts have waited long enough. */
  async #untilNews(): Promise<void> {
    if (this.#ended.length > 0 || this.#stop.signal.aborted) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#hurry = () => {
        timer ??= setTimeout(resolve, startedDelayMs);
      };
      if (this.#started.length > 0 || this.#running.size === 0) this.#hurry();
    });
    this.#hurry = () => {};
    clearTimeout(timer);
  }

  #pause(delayMs: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
