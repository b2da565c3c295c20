import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import {
  deadlineFault,
  endOf,
  failureOf,
  interruptedFault,
  isFinished,
  TaskTakenOver,
  type EndedTask,
  type TaskRecord,
} from './task-record.ts';
import { type TaskRun, leaseMs } from './task-run.ts';
import {
  cancelTask,
  claimKey,
  deleteTasks,
  readAbandoned,
  readTask,
  renewTasks,
  writeTasks,
  type TaskSql,
} from './task-store.ts';
import { Pause, type TaskSignals } from './task-signals.ts';
import {
  adoptWaiting,
  beginTask,
  releaseWaiting,
  type BegunTask,
  type WaitingTask,
} from './waiting-store.ts';

export interface JournalOptions {
  readonly sql: TaskSql;
  readonly signals: TaskSignals;
  readonly log: Log;
}

/** Of a result of a task that nobody can ask for by key: longer ones are not kept. */
const notedResultMax = 64 * 1024;
const keptMs = 24 * 60 * 60_000;
const sweepMs = 10 * 60_000;
/** A signal that got lost costs this at most. */
const recheckMs = 2_000;
/** How late after its deadline the end of a task may still be written. */
const staleMs = 1_000;
const adoptedAtOnce = 100;
const abandonedAtOnce = 100;

interface Writing {
  readonly record: TaskRecord;
  isWritten: boolean;
}

/** What is known of tasks after they were asked, for a day. */
export class TaskJournal implements AsyncDisposable {
  readonly #options: JournalOptions;
  readonly #batch: Batch<Writing>;
  /** Noted, and not yet written. */
  readonly #noted = new Map<string, TaskRecord>();
  readonly #sweep: NodeJS.Timeout;
  /** This process, among all that ever had a task. */
  readonly #holder = newId('msh');

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#batch = createBatch({
      flush: (writings) => this.#write(writings),
      maxItems: 100,
      maxDelayMs: 5,
      maxPending: 20_000,
    });
    this.#sweep = setInterval(() => void this.#forgetOld(), sweepMs).unref();
  }

  /** Stores a task before it begins; others take it over if this process ends before it asks an agent. */
  async open(run: TaskRun): Promise<void> {
    await this.store(run.durableRecord(this.#holder));
  }

  /** Says that an agent is about to be asked; throws TaskTakenOver when that is not this process's any more. */
  async begin(run: BegunTask): Promise<void> {
    if (!(await beginTask(this.#options.sql, run, this.#holder))) throw new TaskTakenOver();
  }

  /** Takes over tasks whose processes ended before they asked an agent. */
  adopt(): Promise<WaitingTask[]> {
    const now = Date.now();
    return adoptWaiting(this.#options.sql, {
      holder: this.#holder,
      now: new Date(now),
      leaseUntil: new Date(now + leaseMs),
      countMax: adoptedAtOnce,
    });
  }

  /** Leaves a task that no agent was asked for to others; never rejects. */
  async release(taskId: string): Promise<void> {
    await releaseWaiting(this.#options.sql, taskId, this.#holder).catch((err: unknown) =>
      this.#options.log.warn({ err, taskId }, 'a task is taken over only when its lease ends'),
    );
  }

  /** Resolves once the record is durable; false when the task had ended before, and stays so. */
  async store(record: TaskRecord): Promise<boolean> {
    const writing = { record, isWritten: false };
    await this.#batch.add(writing);
    return writing.isWritten;
  }

  /** Writes the record soon; it is read as written at once. */
  note(record: TaskRecord): void {
    const { taskId, result } = record;
    const isLong = result !== undefined && result.length > notedResultMax;
    const kept = isLong ? { ...record, result: undefined } : record;
    this.#noted.set(taskId, kept);
    this.store(kept)
      .catch((err: unknown) => this.#options.log.warn({ err, taskId }, 'a task was not recorded'))
      .finally(() => {
        if (this.#noted.get(taskId) === kept) this.#noted.delete(taskId);
      });
  }

  /** Stores a task with its idempotency key; the record that has the key already, if one has. */
  claim(run: TaskRun): Promise<TaskRecord | undefined> {
    return claimKey(this.#options.sql, run.durableRecord(this.#holder));
  }

  /** A task whose process ended without a word reads as failed. */
  async read(taskId: string): Promise<TaskRecord | undefined> {
    const record = this.#noted.get(taskId) ?? (await readTask(this.#options.sql, taskId));
    return record && asOfNow(record);
  }

  /**
   * Ends what nobody works on any more and whose time is up: that nobody has said so for long shows that
   * its process is gone. Of several replicas, one gets each.
   */
  async endAbandoned(): Promise<EndedTask[]> {
    const before = new Date(Date.now() - leaseMs);
    const found = await readAbandoned(this.#options.sql, { before, countMax: abandonedAtOnce });
    const ends = found.map(asOfNow).filter(isFinished);
    const written = await Promise.all(ends.map((record) => this.store(record)));
    return ends.filter((_, at) => written[at]).map(endOf);
  }

  /** Says that this process works on the tasks. */
  async renew(taskIds: readonly string[]): Promise<void> {
    const lease = { holder: this.#holder, leaseUntil: new Date(Date.now() + leaseMs) };
    await renewTasks(this.#options.sql, taskIds, lease).catch((err: unknown) =>
      this.#options.log.warn({ err }, 'the leases of tasks were not renewed'),
    );
  }

  /** Undefined when there is nothing to call off any more. */
  cancel(taskId: string): Promise<EndedTask | undefined> {
    return cancelTask(this.#options.sql, taskId, new Date());
  }

  /** The record once it is finished, as it is at the latest when time is up or the signal aborts. */
  async finished(
    taskId: string,
    { untilMs, signal }: { readonly untilMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<TaskRecord | undefined> {
    const { signals } = this.#options;
    for (;;) {
      const leftMs = untilMs - Date.now();
      const ms = Math.min(recheckMs, Math.max(0, leftMs));
      const pause = new Pause({ signals, until: { kind: 'finished', taskId }, ms, signal });
      const record = await this.read(taskId).catch((error: unknown) => {
        pause.stop();
        throw error;
      });
      if (!record || isFinished(record) || leftMs <= 0 || signal?.aborted) {
        pause.stop();
        return record;
      }
      await pause.over();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await this.#batch.close();
  }

  /** A statement may write a row only once: of several records of a task the last. */
  async #write(writings: readonly Writing[]): Promise<void> {
    const last = new Map(writings.map((writing) => [writing.record.taskId, writing]));
    const records = [...last.values()].map(({ record }) => record);
    const written = await writeTasks(this.#options.sql, records);
    for (const [taskId, writing] of last) writing.isWritten = written.has(taskId);
  }

  async #forgetOld(): Promise<void> {
    try {
      while ((await deleteTasks(this.#options.sql, new Date(Date.now() - keptMs))) === 10_000);
    } catch (err) {
      this.#options.log.warn({ err }, 'old tasks could not be forgotten');
    }
  }
}

/** An open record as it stands now: past its deadline or its process's lease it has failed. */
function asOfNow(record: TaskRecord): TaskRecord {
  const { taskId, deadlineAtMs, leaseUntilMs = Infinity } = record;
  const now = Date.now();
  if (isFinished(record)) return record;
  if (now >= deadlineAtMs + staleMs) return failedAt(record, deadlineFault(taskId), deadlineAtMs);
  return leaseUntilMs < now ? failedAt(record, interruptedFault(taskId), leaseUntilMs) : record;
}

function failedAt(record: TaskRecord, fault: Fault, finishedAtMs: number): TaskRecord {
  return { ...record, status: 'failed', failure: failureOf(fault), finishedAtMs };
}
