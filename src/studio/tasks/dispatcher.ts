import type { Log } from '../../kit/log.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import type { Agent, Agents } from '../agents/agent.ts';
import { AgentLoads } from './agent-loads.ts';
import { ableAgents, chooseAgent } from './placement.ts';
import { StateWrites } from './state-writes.ts';
import { hasEnded, toOpen, type OpenTask, type StoredTask } from './stored-task.ts';
import type { TaskBoard } from './task-board.ts';
import type { ToldTask } from './task-news.ts';
import { TaskQueue, type Placed } from './task-queue.ts';
import { TaskRun } from './task-run.ts';
import { markStopped, readStopping, readTasks, type TaskSql } from './task-store.ts';
import { ended, hasEndedForGood, isSameProcess, nextAttempt, queuedAgain } from './transitions.ts';
import { findVainWaits } from './vain-waits.ts';
import type { AttemptOutcome, Work } from './work.ts';

export interface DispatchTimes {
  /** A task of low priority waits behind critical ones at most that came so long after it. */
  readonly ageingMs: number;
  /** After so long without an able agent a task fails. */
  readonly waitMsMax: number;
  /** Before the second attempt; four times as long before the third. */
  readonly retryMs: number;
  /** How often what waits is looked at without a cause. */
  readonly lookMs: number;
}

export interface DispatcherOptions {
  readonly sql: TaskSql;
  readonly log: Log;
  readonly tracer: Tracer;
  readonly epoch: number;
  readonly board: TaskBoard;
  readonly agents: Pick<Agents, 'running' | 'find' | 'listen'>;
  readonly mesh: Work;
  readonly deploy: Work;
  readonly agentTasksMax: number;
  readonly deploysMax: number;
  readonly times: DispatchTimes;
}

/** What holds unless told. */
export const timesDefault: DispatchTimes = {
  ageingMs: 10 * 60_000,
  waitMsMax: 60 * 60_000,
  retryMs: 1_000,
  lookMs: 1_000,
};

const attemptsMax = 3;

/** Gives tasks to agents and sees them through; one replica at a time has one. */
export class Dispatcher implements AsyncDisposable {
  readonly #options: DispatcherOptions;
  readonly #queue: TaskQueue;
  readonly #runs = new Map<string, TaskRun>();
  readonly #running = new Set<Promise<void>>();
  readonly #delays = new Map<string, NodeJS.Timeout>();
  readonly #loads = new AgentLoads();
  readonly #writes: StateWrites;
  #stopListening: readonly (() => void)[] = [];
  #look: NodeJS.Timeout | undefined;
  #matching: NodeJS.Immediate | undefined;
  readonly #leaving = new AbortController();
  #deployCount = 0;
  #isStopped = false;

  constructor(options: DispatcherOptions) {
    const { sql, log, epoch, board, times } = options;
    this.#options = options;
    this.#queue = new TaskQueue(times.ageingMs);
    const onWritten = (tasks: readonly ToldTask[]) => board.tell(tasks);
    this.#writes = new StateWrites({ sql, log, epoch, onWritten });
  }

  /** Goes on with all that is open. */
  start(): void {
    const { board, agents, times } = this.#options;
    this.#stopListening = [
      board.listen((task) => this.#hear(task)),
      agents.listen((agent) => this.#hearAgent(agent)),
    ];
    for (const task of board.tasks()) this.#take(task);
    this.#look = setInterval(() => {
      this.#track(this.#endVainWaits());
      this.#matchSoon();
    }, times.lookMs);
    this.#track(this.#endStopping());
    this.#matchSoon();
  }

  /** Leaves all as it is, for somebody else to go on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#leaving.abort();
    for (const stop of this.#stopListening) stop();
    clearInterval(this.#look);
    clearImmediate(this.#matching);
    for (const timer of this.#delays.values()) clearTimeout(timer);
    for (const run of this.#runs.values()) run.stop('leaving');
    await this.#writes[Symbol.asyncDispose]();
    await Promise.all(this.#running);
  }

  #hear(task: ToldTask): void {
    if (hasEnded(task)) this.#forget(task);
    else if (task.status === 'queued') this.#take(task);
  }

  /** A task that others have ended. */
  #forget({ id }: ToldTask): void {
    this.#queue.remove(id);
    clearTimeout(this.#delays.get(id));
    this.#delays.delete(id);
    this.#runs.get(id)?.stop('cancelled');
  }

  #take(task: OpenTask): void {
    if (this.#runs.has(task.id) || this.#delays.has(task.id)) return;
    if (task.status !== 'queued') return this.#begin(task, 'again');
    this.#queue.add(toOpen(task));
    this.#matchSoon();
  }

  #matchSoon(): void {
    if (this.#isStopped) return;
    this.#matching ??= setImmediate(() => {
      this.#matching = undefined;
      this.#match();
    });
  }

  #match(): void {
    const running = this.#options.agents.running();
    const reserved = new Set<string>();
    this.#queue.drain((task, lane) => {
      if (task.type === 'deploy') return this.#placeDeploy(task);
      const able = ableAgents(task, running);
      if (able.length > 0) lane.ableAtMs = Date.now();
      return this.#place(
        task,
        able.filter(({ id }) => !reserved.has(id)),
        reserved,
      );
    });
  }

  #place(task: OpenTask, able: readonly Agent[], reserved: Set<string>): Placed {
    const { agentTasksMax, times } = this.#options;
    const agent = chooseAgent(task, able, { loads: this.#loads, agentTasksMax });
    if (agent) {
      const { id: assignedAgent, restarts: agentRestarts } = agent;
      this.#begin({ ...nextAttempt(task), assignedAgent, agentRestarts }, 'first');
      return 'placed';
    }
    // What is large would wait for ever while small ones slip in.
    const [kept] = Date.now() - task.createdAtMs > times.ageingMs ? able : [];
    if (kept) reserved.add(kept.id);
    return 'blocked';
  }

  #placeDeploy(task: OpenTask): Placed {
    if (this.#deployCount >= this.#options.deploysMax) return 'blocked';
    this.#begin(nextAttempt(task), 'first');
    return 'placed';
  }

  #begin(task: OpenTask, how: 'first' | 'again'): void {
    const { mesh, deploy, tracer } = this.#options;
    const run = new TaskRun(task, {
      work: task.type === 'deploy' ? deploy : mesh,
      tracer,
      store: (state) => (how === 'first' ? this.#writes.save(state) : this.#resume(run)),
      note: (state) => this.#track(this.#writes.save(state)),
    });
    this.#runs.set(task.id, run);
    if (task.type === 'deploy') this.#deployCount += 1;
    else if (task.assignedAgent !== undefined) this.#loads.add(task.assignedAgent, task);
    this.#track(this.#see(run));
  }

  /** The task of an attempt that an earlier dispatcher began; its agent may have died meanwhile. */
  async #resume(run: TaskRun): Promise<StoredTask | undefined> {
    const { sql, agents } = this.#options;
    const { id, assignedAgent } = run.task;
    const [stored] = await readTasks(sql, [id]);
    if (!stored || hasEnded(stored)) return undefined;
    if (assignedAgent === undefined) return stored;
    const agent = await agents.find(assignedAgent);
    if (!agent || !isSameProcess(agent, run.task)) run.lose(agent);
    return stored;
  }

  async #see(run: TaskRun): Promise<void> {
    const { log } = this.#options;
    const { id } = run.task;
    let next: OpenTask | undefined;
    try {
      const outcome = await run.outcome();
      next = outcome && (await this.#settle(run.task, outcome));
    } catch (err) {
      if (!this.#isStopped) log.error({ err, taskId: id }, 'a task could not be seen through');
    }
    const { task } = run;
    this.#runs.delete(id);
    if (task.type === 'deploy') this.#deployCount -= 1;
    else if (task.assignedAgent !== undefined) this.#loads.remove(task.assignedAgent, task);
    if (next) this.#takeLater(next);
    this.#matchSoon();
  }

  /** Stores what came of an attempt; the task when there is to be another one. */
  async #settle(task: OpenTask, outcome: AttemptOutcome): Promise<OpenTask | undefined> {
    if (outcome.status === 'failed' && outcome.isRetryable && task.attempt < attemptsMax) {
      const next = queuedAgain(task);
      return (await this.#writes.save(next)) && next;
    }
    if (outcome.status === 'failed') {
      const isKept = await this.#writes.save(ended(task, outcome.failure));
      // Somebody called it off, and whoever did it has been told so now.
      if (!isKept) await markStopped(this.#options.sql, [task.id]);
      return undefined;
    }
    const { status, result, artefacts } = outcome;
    const version = task.version + 1;
    await this.#writes.save({ ...task, version, status, result, artefacts, endedAtMs: Date.now() });
    return undefined;
  }

  #takeLater(task: OpenTask): void {
    if (this.#isStopped) return;
    const delayMs = this.#options.times.retryMs * 4 ** (task.attempt - 1);
    const timer = setTimeout(() => {
      this.#delays.delete(task.id);
      this.#take(this.#options.board.find(task.id) ?? task);
    }, delayMs);
    this.#delays.set(task.id, timer);
  }

  #hearAgent(agent: Agent): void {
    for (const run of this.#runs.values()) {
      if (run.task.assignedAgent === agent.id && !isSameProcess(agent, run.task)) run.lose(agent);
    }
    if (hasEndedForGood(agent)) this.#track(this.#endVainWaits());
    this.#matchSoon();
  }

  async #endVainWaits(): Promise<void> {
    if (this.#queue.size === 0) return;
    const { agents, times } = this.#options;
    const found = await findVainWaits(this.#queue, agents, times.waitMsMax);
    const still = found.filter(({ task }) => this.#queue.has(task.id));
    for (const { task } of still) this.#queue.remove(task.id);
    await Promise.all(still.map(({ task, failure }) => this.#writes.save(ended(task, failure))));
  }

  /** Tells those who still do what has ended here, for whoever ended it could not. */
  async #endStopping(): Promise<void> {
    const { sql, mesh, deploy } = this.#options;
    const stopping = await readStopping(sql);
    const cancelling = stopping.map(async ({ runId, type, id }) => {
      if (this.#runs.has(id)) return;
      const work = type === 'deploy' ? deploy : mesh;
      if (runId !== undefined) await work.cancel(runId, this.#leaving.signal);
      await markStopped(sql, [id]);
    });
    await Promise.all(cancelling);
  }

  /** Work that nobody waits for but the end; what fails in it is logged. */
  #track(work: Promise<unknown>): void {
    const done = this.#watch(work).finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  async #watch(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (err) {
      if (!this.#isStopped) this.#options.log.warn({ err }, 'tasks could not be looked after');
    }
  }
}
