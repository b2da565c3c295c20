import type { Bus } from '../../kit/bus/bus.ts';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import { allows } from '../../kit/permissions.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import type { Agents } from '../agents/agent.ts';
import { permissionsOf } from '../workspaces/roles.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import { accept } from './acceptance.ts';
import { Dispatcher, timesDefault, type DispatchTimes } from './dispatcher.ts';
import { DeployWork, type WorkflowClient } from './deploy-work.ts';
import { Leadership } from './leadership.ts';
import { MeshWork, type MeshClient } from './mesh-work.ts';
import { waitOf } from './placement.ts';
import { hasEnded, type StoredTask } from './stored-task.ts';
import { TaskAccess } from './task-access.ts';
import { TaskBoard } from './task-board.ts';
import { keyReused, taskFinished, taskNotFound, tooManyTasks } from './task-faults.ts';
import type { NewTask, StudioTask, TaskFailure, Tasks } from './task.ts';
import {
  deleteEnded,
  deleteWorkspaceTasks,
  endTasks,
  insertTasks,
  listTasks,
  readKeyed,
  readTask,
  type TaskEntry,
  type TaskSql,
} from './task-store.ts';

export interface TaskLimits {
  /** Tasks that an agent gets at the same time. */
  readonly agentTasksMax: number;
  /** `deploy` tasks at the same time. */
  readonly deploysMax: number;
  /** Tasks that may be open. */
  readonly openMax: number;
  /** After so long an ended task is forgotten. */
  readonly keptMs: number;
  /** How long a replica that says nothing is still the dispatcher. */
  readonly leaseMs: number;
  readonly times: DispatchTimes;
}

export interface StoredTasksOptions {
  readonly sql: TaskSql;
  readonly bus: Bus;
  readonly log: Log;
  readonly tracer: Tracer;
  readonly agents: Pick<Agents, 'running' | 'find' | 'require' | 'listen'>;
  readonly workspaces: Pick<Workspaces, 'require'>;
  readonly mesh: MeshClient;
  readonly workflow: WorkflowClient;
  readonly limits?: Partial<TaskLimits>;
}

interface Addition {
  readonly entry: TaskEntry;
  isAdded: boolean;
}

const minute = 60_000;
const sweepMs = 10 * minute;
const removedWithWorkspace: TaskFailure = {
  code: 'cancelled',
  message: 'the workspace was deleted',
};

const limitsDefault: TaskLimits = {
  agentTasksMax: 4,
  deploysMax: 20,
  openMax: 10_000,
  keptMs: 30 * 24 * 60 * minute,
  leaseMs: 10_000,
  times: timesDefault,
};

/** Roles that see what agents do. */
const seeing = Object.entries(permissionsOf)
  .filter(([, permissions]) => permissions.includes('agents:view'))
  .map(([role]) => role);

/** The tasks in SQL, with the open ones in memory; one replica at a time gives them to agents. */
export class StoredTasks implements Tasks, AsyncDisposable {
  readonly #options: StoredTasksOptions;
  readonly #limits: TaskLimits;
  readonly #lifetime: Lifetime;
  readonly #board: TaskBoard;
  readonly #access: TaskAccess;
  readonly #additions: Batch<Addition>;
  #wasApart = false;

  constructor(options: StoredTasksOptions) {
    const { sql, bus, log } = options;
    this.#options = options;
    this.#limits = { ...limitsDefault, ...options.limits };
    this.#lifetime = new Lifetime(log);
    this.#board = this.#lifetime.own('the board of tasks', new TaskBoard({ sql, bus, log }));
    this.#access = new TaskAccess(options);
    this.#additions = createBatch({
      flush: (additions) => this.#insert(additions),
      maxItems: 200,
      maxDelayMs: 2,
      maxPending: 20_000,
    });
  }

  /** Goes on with what is open, unless another replica does; agents must be known by now. */
  async start(): Promise<void> {
    await this.#board.start();
    const { sql, log } = this.#options;
    const leadership = new Leadership({
      sql,
      log,
      leaseMs: this.#limits.leaseMs,
      onLead: (epoch) => this.#dispatch(epoch),
      onBeat: (openCount) => this.#compare(openCount),
    });
    await this.#lifetime.own('the dispatcher of tasks', leadership).start();
    const sweep = setInterval(() => void this.#forgetOld(), sweepMs).unref();
    this.#lifetime.defer('the sweep of tasks', () => clearInterval(sweep));
    this.#lifetime.defer('new tasks', () => this.#additions.close());
  }

  async add(identity: Identity, wanted: NewTask): Promise<StudioTask> {
    const { entry, refusal } = await accept(this.#options, identity, wanted);
    if (refusal) return this.#shown(await this.#earlier(entry, refusal));
    if (this.#board.size >= this.#limits.openMax) throw tooManyTasks(this.#limits.openMax);
    const addition: Addition = { entry, isAdded: false };
    await this.#additions.add(addition);
    if (addition.isAdded) return this.#shown(entry.task);
    return this.#shown(await this.#earlier(entry, taskNotFound(entry.task.id)));
  }

  async list(identity: Identity, query: Parameters<Tasks['list']>[1]): ReturnType<Tasks['list']> {
    const { agentId, workspaceId } = query;
    const { agents, workspaces, sql } = this.#options;
    if (agentId !== undefined) await agents.require(identity, agentId, 'view');
    if (workspaceId !== undefined) {
      await workspaces.require(identity, workspaceId, 'agents:view');
    }
    // Who sees an agent or a workspace sees all its tasks.
    const isAll =
      agentId !== undefined ||
      workspaceId !== undefined ||
      allows(identity.permissions, 'studio:admin');
    const seenBy = isAll ? undefined : { subject: identity.subject, roles: seeing };
    const { tasks, total } = await listTasks(sql, { ...query, seenBy });
    return { tasks: tasks.map((task) => this.#shown(task)), total };
  }

  async read(identity: Identity, id: string): Promise<StudioTask> {
    const task = await this.#find(id);
    await this.#access.require(identity, task, 'view');
    return this.#shown(task);
  }

  async cancel(identity: Identity, id: string): Promise<StudioTask> {
    await this.#access.require(identity, await this.#find(id), 'execute');
    const failure = { code: 'cancelled', message: 'the task was called off' };
    const [task] = await endTasks(this.#options.sql, { id }, failure);
    if (!task) throw taskFinished(id);
    this.#board.tell([task]);
    return this.#shown(task);
  }

  counts(agentId: string): { readonly running: number; readonly queued: number } {
    return this.#board.counts(agentId);
  }

  async removeWorkspace(workspaceId: string): Promise<void> {
    const { sql } = this.#options;
    const ended = await endTasks(sql, { workspaceId }, removedWithWorkspace);
    this.#board.tell(ended);
    await deleteWorkspaceTasks(sql, workspaceId);
  }

  listen(listener: (task: StudioTask) => void): () => void {
    return this.#board.listen((task) => listener({ ...task, input: {} }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime[Symbol.asyncDispose]();
  }

  async #insert(additions: readonly Addition[]): Promise<void> {
    const entries = additions.map(({ entry }) => entry);
    const added = await insertTasks(this.#options.sql, entries);
    for (const addition of additions) addition.isAdded = added.has(addition.entry.task.id);
    this.#board.tell(entries.map(({ task }) => task).filter(({ id }) => added.has(id)));
  }

  /** The task that has the key already; throws the refusal of a new one when there is none. */
  async #earlier(
    { task, idempotencyKey, requestHash }: TaskEntry,
    refusal: Fault,
  ): Promise<StoredTask> {
    const { sql } = this.#options;
    const held = idempotencyKey && (await readKeyed(sql, task.ownerId, idempotencyKey));
    if (!held) throw refusal;
    if (held.requestHash !== requestHash) throw keyReused(held.task.id);
    return held.task;
  }

  async #find(id: string): Promise<StoredTask> {
    const task = await readTask(this.#options.sql, id);
    if (!task) throw taskNotFound(id);
    return task;
  }

  #shown(task: StoredTask): StudioTask {
    if (hasEnded(task) || task.status !== 'queued') return task;
    const room = { loads: this.#board.loads, agentTasksMax: this.#limits.agentTasksMax };
    const waiting = waitOf(task, this.#options.agents.running(), room);
    return waiting ? { ...task, waiting } : task;
  }

  async #dispatch(epoch: number): Promise<AsyncDisposable> {
    const { sql, log, tracer, agents, mesh, workflow } = this.#options;
    // What an earlier dispatcher wrote last may not have been told.
    await this.#board.reload();
    const dispatcher = new Dispatcher({
      ...this.#limits,
      sql,
      log,
      tracer,
      epoch,
      agents,
      board: this.#board,
      mesh: new MeshWork(mesh),
      deploy: new DeployWork(workflow),
    });
    dispatcher.start();
    return dispatcher;
  }

  /** News that got lost show as another number of tasks; once may be a matter of moments. */
  #compare(openCount: number): void {
    const isApart = openCount !== this.#board.size;
    if (isApart && this.#wasApart) void this.#board.reload();
    this.#wasApart = isApart;
  }

  async #forgetOld(): Promise<void> {
    try {
      const { sql } = this.#options;
      while (await deleteEnded(sql, new Date(Date.now() - this.#limits.keptMs)));
    } catch (err) {
      this.#options.log.warn({ err }, 'old tasks could not be forgotten');
    }
  }
}
