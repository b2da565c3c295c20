import { recentEntries } from '../../kit/recent-entries.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { AgentLoads } from './agent-loads.ts';
import { hasEnded, toOpen, type OpenTask } from './stored-task.ts';
import { TaskNews, toTold, type ToldTask } from './task-news.ts';
import { readOpen, type TaskSql } from './task-store.ts';

export interface BoardOptions {
  readonly sql: TaskSql;
  readonly bus: Bus;
  readonly log: Log;
}

export type TaskListener = (task: ToldTask) => void;

/** So many ended tasks are remembered, lest late news of them makes them open again. */
const endedMax = 20_000;

interface Held {
  readonly task: OpenTask;
  /** When it was heard of, by the count of changes. */
  readonly heardAt: number;
}

/** All tasks that have not ended, as every replica holds them; of two states the newer one holds. */
export class TaskBoard implements AsyncDisposable {
  readonly #options: BoardOptions;
  readonly #news: TaskNews;
  readonly #held = new Map<string, Held>();
  readonly #ended = recentEntries<true>(endedMax);
  /** Tasks that wait for a certain agent. */
  readonly #waiting = new Map<string, number>();
  readonly #listeners = new Set<TaskListener>();
  /** Of tasks that are assigned or run. */
  readonly loads = new AgentLoads();
  #heardCount = 0;
  #reloading: Promise<void> | undefined;

  constructor(options: BoardOptions) {
    this.#options = options;
    const { bus, log } = options;
    this.#news = new TaskNews({
      bus,
      log,
      onTasks: (tasks) => this.#hearAll(tasks),
      onGap: () => void this.reload(),
    });
  }

  get size(): number {
    return this.#held.size;
  }

  /** Resolves when all that is open is held. */
  async start(): Promise<void> {
    // First, so that nothing lies between what is heard and what is read.
    await this.#news.start();
    await this.#reload();
  }

  find(taskId: string): OpenTask | undefined {
    return this.#held.get(taskId)?.task;
  }

  /** In the order in which they came. */
  tasks(): OpenTask[] {
    return [...this.#held.values()].map(({ task }) => task);
  }

  counts(agentId: string): { readonly running: number; readonly queued: number } {
    return { running: this.loads.of(agentId).count, queued: this.#waiting.get(agentId) ?? 0 };
  }

  listen(listener: TaskListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes stored changes over here, and tells the others; each task in the order of its changes. */
  tell(tasks: readonly ToldTask[]): void {
    const told = tasks.map(toTold);
    this.#hearAll(told);
    this.#news.tell(told);
  }

  /** Reads all again, for something may have been missed; never rejects. */
  reload(): Promise<void> {
    this.#reloading ??= this.#reload()
      .catch((err: unknown) => {
        this.#options.log.warn({ err }, 'the open tasks could not be read again');
      })
      .finally(() => {
        this.#reloading = undefined;
      });
    return this.#reloading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#news[Symbol.asyncDispose]();
    await this.#reloading;
  }

  async #reload(): Promise<void> {
    const before = this.#heardCount;
    const found = new Set<string>();
    for (let after = ''; ;) {
      const page = await readOpen(this.#options.sql, after);
      for (const task of page) found.add(task.id);
      this.#hearAll(page.map(toOpen));
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
    }
    for (const [id, { heardAt }] of this.#held) {
      if (!found.has(id) && heardAt <= before) this.#drop(id);
    }
  }

  #hearAll(tasks: readonly ToldTask[]): void {
    for (const task of tasks) this.#hear(task);
  }

  #hear(task: ToldTask): void {
    const held = this.#held.get(task.id);
    if (this.#ended.has(task.id) || (held && held.task.version >= task.version)) return;
    this.#heardCount += 1;
    this.#drop(task.id);
    if (hasEnded(task)) this.#ended.set(task.id, true);
    else this.#hold(toOpen(task));
    for (const listener of this.#listeners) this.#call(listener, task);
  }

  #call(listener: TaskListener, task: ToldTask): void {
    try {
      listener(task);
    } catch (err) {
      this.#options.log.error({ err, taskId: task.id }, 'a listener to tasks failed');
    }
  }

  #hold(task: OpenTask): void {
    this.#held.set(task.id, { task, heardAt: this.#heardCount });
    if (task.status === 'queued') this.#count(task.wantedAgent, 1);
    else if (task.assignedAgent !== undefined) this.loads.add(task.assignedAgent, task);
  }

  #drop(taskId: string): void {
    const task = this.find(taskId);
    if (!task) return;
    this.#held.delete(taskId);
    if (task.status === 'queued') this.#count(task.wantedAgent, -1);
    else if (task.assignedAgent !== undefined) this.loads.remove(task.assignedAgent, task);
  }

  #count(agentId: string | undefined, change: number): void {
    if (agentId === undefined) return;
    const count = (this.#waiting.get(agentId) ?? 0) + change;
    if (count > 0) this.#waiting.set(agentId, count);
    else this.#waiting.delete(agentId);
  }
}
