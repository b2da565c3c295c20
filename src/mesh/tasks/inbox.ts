import { rereadMs } from '../../kit/bus/unheard-writers.ts';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import { notStarted, shortText, taskRefused, type AgentCall, type AgentCaller } from './caller.ts';
import {
  addToInboxes,
  answerInbox,
  claimInbox,
  endInbox,
  nextLeaseEnd,
  releaseInbox,
  type ClaimedTask,
  type InboxEntry,
} from './inbox-store.ts';
import type { TaskJournal } from './task-journal.ts';
import {
  agentGoneFault,
  failureOf as recordedFailureOf,
  isFinished,
  outcomeOf,
  type EndedTask,
  type TaskRecord,
} from './task-record.ts';
import { Pause, type TaskSignals } from './task-signals.ts';
import type { TaskSql } from './task-store.ts';

export interface InboxOptions {
  readonly sql: TaskSql;
  readonly journal: TaskJournal;
  readonly signals: TaskSignals;
  readonly directory: Pick<AgentDirectory, 'find'>;
  readonly log: Log;
  /** Hears of the tasks that end by an agent's answer, or because it has gone. */
  readonly tell: (ended: EndedTask) => void;
  /** Whether tasks come from processes whose signals do not reach this one. */
  readonly hasUnheardWriters?: () => boolean;
  /** Tasks that may wait for one agent; 1,000 unless told. */
  readonly lengthMax?: number;
}

export interface TakeOptions {
  /** The subject that asks: only the agent's owner gets its tasks. */
  readonly subject: string;
  readonly waitMs: number;
  readonly countMax: number;
  /** How long a task is the taker's own; it can be taken again afterwards. */
  readonly leaseMs: number;
  /** Aborted when the taker has gone: then nothing is taken. */
  readonly signal: AbortSignal;
}

export interface AgentAnswer {
  readonly subject: string;
  /** Absent when the agent failed. */
  readonly result?: unknown;
  readonly error?: { readonly message?: string | undefined } | undefined;
}

/** While somebody waits, a signal that got lost costs this at most. */
const recheckMs = 15_000;
/** The least time before a task that another is just taking is looked for again. */
const takenPauseMs = 50;

interface Addition {
  readonly entry: InboxEntry;
  isAdded: boolean;
}

/**
 * Tasks of agents that cannot listen: they come for them. Kept in SQL, so that they outlive this
 * process and any replica can hand them out.
 */
export class Inbox implements AgentCaller, AsyncDisposable {
  readonly #options: InboxOptions;
  readonly #additions: Batch<Addition>;
  readonly #pauses = new Set<Pause>();
  #isStopping = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#additions = createBatch({
      flush: (additions) => this.#add(additions),
      maxItems: 200,
      maxDelayMs: 2,
      maxPending: 20_000,
    });
  }

  async execute(call: AgentCall): Promise<unknown> {
    const { agent, deadlineAtMs, signal, task } = call;
    const { agentId } = agent;
    const addition: Addition = { entry: entryOf(call), isAdded: false };
    await this.#additions.add(addition);
    if (!addition.isAdded) throw notStarted(agent, 'agent_busy', { retryAfter: 1 });
    this.#options.signals.tell({ kind: 'inbox', agentId });
    const record = await this.#options.journal.finished(task.taskId, {
      untilMs: deadlineAtMs,
      signal,
    });
    signal.throwIfAborted();
    if (record?.finishedAtMs !== undefined) call.noteFinished?.(record.finishedAtMs);
    return resultOf(call, record);
  }

  /** Nobody gets a task that is finished: its record says it all. */
  async cancel(): Promise<void> {}

  /**
   * The agent's most urgent tasks, waiting for the first if there is none. Throws `not_found` for an
   * unknown agent, `forbidden` for anyone but its owner, who gets only what was asked of the agent
   * as this owner's.
   */
  async take(agentId: string, options: TakeOptions): Promise<readonly ClaimedTask[]> {
    const { waitMs, signal } = options;
    const untilMs = Date.now() + waitMs;
    for (;;) {
      // Again after each wait: the agent may have gone, or be another's.
      this.#checkOwner(agentId, options.subject);
      const leftMs = this.#isStopping ? 0 : Math.max(0, untilMs - Date.now());
      const pause = new Pause({
        signals: this.#options.signals,
        until: { kind: 'inbox', agentId },
        ms: Math.min(leftMs, this.#recheckMs),
        signal,
      });
      this.#pauses.add(pause);
      try {
        const tasks = await this.#claim(agentId, options);
        if (tasks.length > 0 || leftMs === 0 || signal.aborted) {
          return await this.#handOver(agentId, tasks, signal);
        }
        await pause.over(await this.#leaseMsLeft(agentId, options.subject));
      } finally {
        this.#pauses.delete(pause);
        pause.stop();
      }
    }
  }

  /** Lets nobody wait for tasks any longer: who comes gets what there is. */
  stopWaits(): void {
    this.#isStopping = true;
    for (const pause of this.#pauses) pause.cutShort();
  }

  /** Takes an agent's answer; throws `conflict` (`task_finished`) for all but the first. */
  async answer(agentId: string, taskId: string, answer: AgentAnswer): Promise<string> {
    this.#checkOwner(agentId, answer.subject);
    const { sql, signals, tell } = this.#options;
    const { result, error } = answer;
    const stored = await answerInbox(sql, {
      taskId,
      agentId,
      ownerId: answer.subject,
      finishedAt: new Date(),
      ...(error
        ? { failure: failureOf(agentId, error) }
        : { result: JSON.stringify(result ?? null) }),
    });
    if (!stored) throw unknownTask(taskId);
    if (!stored.ended) {
      throw new Fault('conflict', 'the task is finished', {
        reason: 'task_finished',
        detail: { taskId, status: stored.status },
      });
    }
    signals.tell({ kind: 'finished', taskId });
    tell(stored.ended);
    return stored.status;
  }

  /** Ends what waits for an agent that has gone, and what it had taken; never rejects. */
  async end(agentId: string, atMs: number): Promise<void> {
    const { sql, signals, tell, log } = this.#options;
    const failure = recordedFailureOf(agentGoneFault(agentId));
    try {
      for (const ended of await endInbox(sql, { agentId, endedAt: new Date(atMs), failure })) {
        signals.tell({ kind: 'finished', taskId: ended.taskId });
        tell(ended);
      }
    } catch (err) {
      log.warn({ err, agentId }, 'the inbox of an agent that has gone was not emptied');
    }
    signals.tell({ kind: 'inbox', agentId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#additions.close();
  }

  async #add(additions: readonly Addition[]): Promise<void> {
    const { sql, lengthMax = 1_000 } = this.#options;
    const entries = additions.map(({ entry }) => entry);
    const added = await addToInboxes(sql, entries, lengthMax);
    for (const addition of additions) addition.isAdded = added.has(addition.entry.taskId);
  }

  get #recheckMs(): number {
    return this.#options.hasUnheardWriters?.() ? rereadMs : recheckMs;
  }

  #claim(agentId: string, options: TakeOptions): Promise<ClaimedTask[]> {
    const { subject: ownerId, countMax, leaseMs } = options;
    const now = new Date();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    return claimInbox(this.#options.sql, { agentId, ownerId, countMax, now, leaseUntil });
  }

  /** How long until a task may be free again. */
  async #leaseMsLeft(agentId: string, ownerId: string): Promise<number> {
    const now = new Date();
    const endsAt = await nextLeaseEnd(this.#options.sql, { agentId, ownerId, now });
    return endsAt ? Math.max(takenPauseMs, endsAt.getTime() - now.getTime()) : Infinity;
  }

  async #handOver(
    agentId: string,
    tasks: readonly ClaimedTask[],
    signal: AbortSignal,
  ): Promise<readonly ClaimedTask[]> {
    if (!signal.aborted || tasks.length === 0) return tasks;
    await releaseInbox(
      this.#options.sql,
      tasks.map(({ taskId }) => taskId),
    );
    this.#options.signals.tell({ kind: 'inbox', agentId });
    return [];
  }

  #checkOwner(agentId: string, subject: string): void {
    const agent = this.#options.directory.find(agentId);
    if (!agent) {
      throw new Fault('not_found', 'there is no such agent', {
        reason: 'agent_not_found',
        detail: { agentId },
      });
    }
    if (agent.ownerId === subject) return;
    throw new Fault('forbidden', 'only its owner speaks for an agent', {
      reason: 'not_agent_owner',
      detail: { agentId },
    });
  }
}

function entryOf({ agent, askedBy, createdAtMs, deadlineAtMs, task, traceparent }: AgentCall) {
  const { taskId, type, input, priority } = task;
  return {
    taskId,
    askedBy,
    agentId: agent.agentId,
    ownerId: agent.ownerId,
    type,
    priority,
    input: JSON.stringify(input),
    traceparent,
    createdAtMs,
    deadlineAtMs,
  };
}

function resultOf({ agent, task }: AgentCall, record: TaskRecord | undefined): unknown {
  if (!record || !isFinished(record)) {
    throw new Fault('deadline', 'the agent did not come for the task in time', {
      reason: 'task_deadline',
      detail: { taskId: task.taskId, agentId: agent.agentId },
    });
  }
  const { failure } = record;
  // What the mesh itself ended is no failure of the agent.
  if (!failure || failure.code !== 'upstream') return outcomeOf(record).result;
  throw taskRefused(agent, failure.message, { ...(failure.detail && { detail: failure.detail }) });
}

function failureOf(agentId: string, { message }: { readonly message?: string | undefined }) {
  const agentError = shortText(message);
  return {
    code: 'upstream',
    reason: 'agent_failed',
    message: 'the agent failed',
    detail: { agentId, ...(agentError && { agentError }) },
  } as const;
}

function unknownTask(taskId: string): Fault {
  return new Fault('not_found', 'there is no such task in this inbox', {
    reason: 'task_not_found',
    detail: { taskId },
  });
}
