import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { requirePermission } from '../../kit/permissions.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import type { Caller } from '../caller.ts';
import { ownerOf } from '../conversations/conversation.ts';
import { orchestrating } from '../schemas/orchestrations.ts';
import { findAgents, type AgentReader } from './agent-finder.ts';
import { checkRequest, newOrchestration } from './new-orchestration.ts';
import { OrchestrationRun } from './orchestration-run.ts';
import {
  cancelOrchestration,
  holdOrchestrations,
  insertOrchestration,
  listOrchestrations,
  readOrchestration,
  releaseOrchestrations,
} from './orchestration-store.ts';
import type {
  AgentProgress,
  Orchestration,
  OrchestrationRequest,
  Orchestrations,
} from './orchestration.ts';
import type { ProgressFeed } from './progress-feed.ts';
import { progressOf } from './step-progress.ts';
import { StepTasks, type TaskClient } from './step-tasks.ts';
import { toOrchestration, type StoredOrchestration } from './stored-orchestration.ts';
import { WriteBatch } from './write-batch.ts';

export interface MeshOrchestrationsOptions {
  readonly database: Database;
  readonly bus: Bus;
  /** Reads the mesh with the caller's rights. */
  readonly readerOf: (caller: Pick<Caller, 'credential'>) => AgentReader;
  /** Has tasks done as this service itself, so that any replica may ask for them again. */
  readonly tasks: TaskClient;
  readonly progress: ProgressFeed;
  readonly tracer: Tracer;
  readonly log: Log;
  /** Nobody else can have the database open; so with PGlite unless told. */
  readonly isAlone?: boolean;
  /** How often leases are renewed, which last three times as long; 5,000 unless told. */
  readonly beatMs?: number;
  /** Of one owner at a time; 50 unless told. */
  readonly runningMax?: number;
}

/** Where replicas tell one another which orchestrations their owners ended. */
const orchestrationEndTopic = 'chat.orchestration-ends';

/** What a replica takes over with one beat, at most. */
const takenMax = 200;
const runningMaxDefault = 50;
const beatMsDefault = 5_000;
const callingOffMs = 10_000;

/** Orchestrations over the mesh that outlive their process, each run by one replica at a time. */
export class MeshOrchestrations implements Orchestrations, AsyncDisposable {
  readonly #options: MeshOrchestrationsOptions;
  readonly #replica = newId('rep');
  readonly #isAlone: boolean;
  readonly #leaseMs: number;
  readonly #tasks: StepTasks;
  readonly #writes: WriteBatch;
  readonly #ends: Topic<{ readonly id: string }>;
  readonly #runs = new Map<string, OrchestrationRun>();
  readonly #working = new Set<Promise<unknown>>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: MeshOrchestrationsOptions) {
    const { database, log, bus, tasks, beatMs = beatMsDefault } = options;
    this.#options = options;
    this.#isAlone = options.isAlone ?? database.dialect === 'pglite';
    this.#leaseMs = beatMs * 3;
    this.#tasks = new StepTasks(tasks);
    this.#writes = new WriteBatch({ sql: database, log, onLost: (id) => this.#letGo(id) });
    this.#ends = bus.topic(orchestrationEndTopic, { retainCount: 1_000, retainSeconds: 60 });
  }

  /** Goes on with what dead processes left: at once where nobody else can live, else within a lease. */
  async open(): Promise<void> {
    this.#subscription = await this.#ends.subscribe(({ data: { id } }) => this.#letGo(id));
    await this.#hold(this.#isAlone);
    if (this.#isAlone) return;
    const { beatMs = beatMsDefault } = this.#options;
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  async start(caller: Caller, request: OrchestrationRequest): Promise<Orchestration> {
    requirePermission(caller.identity.permissions, orchestrating);
    checkRequest(request);
    const { database, readerOf, runningMax = runningMaxDefault } = this.#options;
    const agents = await findAgents(readerOf(caller), request.agents);
    if (this.#isStopped)
      throw new Fault('unavailable', 'the service is stopping', { retryAfter: 5 });
    const owner = { ownerId: ownerOf(caller), replica: this.#replica };
    const stored = newOrchestration(request, agents, owner);
    const leaseMs = this.#leaseMs;
    if (!(await insertOrchestration(database, stored, { leaseMs, runningMax }))) {
      throw tooMany(runningMax);
    }
    this.#run(stored, request.traceparent);
    return toOrchestration(stored);
  }

  async find(ownerId: string, id: string): Promise<Orchestration> {
    return toOrchestration(await this.#find(ownerId, id));
  }

  async list(ownerId: string, page: { readonly limit: number; readonly offset: number }) {
    const found = await listOrchestrations(this.#options.database, ownerId, page);
    return { orchestrations: found.orchestrations.map(toOrchestration), total: found.total };
  }

  async cancel(ownerId: string, id: string): Promise<Orchestration> {
    const { database, progress } = this.#options;
    const error = { code: 'ORCHESTRATION_CANCELLED', message: 'its owner called it off' };
    const before = await this.#find(ownerId, id);
    const end = { error: JSON.stringify(error), at: new Date() };
    const isEnded = await cancelOrchestration(database, { id, ownerId }, end);
    const stored = await this.#find(ownerId, id);
    if (!isEnded) return toOrchestration(stored);
    this.#letGo(id);
    this.#track(this.#tellEnd(id));
    this.#track(this.#callOff(stored));
    for (const step of stored.steps) {
      const hadEnded = before.steps.find(({ place }) => place === step.place)?.endedAtMs;
      if (hadEnded === undefined) progress.tell(progressOf(stored, step, stored.steps));
    }
    return toOrchestration(stored);
  }

  listen(listener: (progress: AgentProgress) => void): () => void {
    return this.#options.progress.listen(listener);
  }

  /** Leaves what runs to the mesh and to the next that looks for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#subscription?.close();
    await this.#beating;
    for (const run of this.#runs.values()) run.abandon();
    await this.#writes[Symbol.asyncDispose]();
    await Promise.allSettled(this.#working);
    await releaseOrchestrations(this.#options.database, this.#replica).catch(() => {});
  }

  async #find(ownerId: string, id: string): Promise<StoredOrchestration> {
    const stored = await readOrchestration(this.#options.database, id);
    if (stored?.ownerId === ownerId) return stored;
    throw new Fault('not_found', 'there is no such orchestration', {
      reason: 'orchestration_not_found',
      detail: { orchestrationId: id },
    });
  }

  #run(stored: StoredOrchestration, traceparent?: string): void {
    const { tracer, progress, log } = this.#options;
    const { id } = stored;
    const run = new OrchestrationRun(stored, {
      tasks: this.#tasks,
      save: (write) => this.#writes.save(write),
      tell: (told) => progress.tell(told),
      tracer,
      now: Date.now,
      traceparent,
    });
    this.#runs.get(id)?.abandon();
    this.#runs.set(id, run);
    const ended = run
      .run()
      .catch((err: unknown) => log.error({ err, id }, 'an orchestration broke off'))
      .finally(() => {
        if (this.#runs.get(id) === run) this.#runs.delete(id);
      });
    this.#track(ended);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((err: unknown) =>
        this.#options.log.error({ err }, 'the end of an orchestration failed'),
      )
      .finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }

  /** Stops running here what has ended, or what another runs by now. */
  #letGo(id: string): void {
    if (this.#runs.has(id)) this.#track(this.#letGoUnlessOwn(id));
  }

  async #letGoUnlessOwn(id: string): Promise<void> {
    const run = this.#runs.get(id);
    if (!run) return;
    const stored = await readOrchestration(this.#options.database, id);
    if (!stored || stored.endedAtMs !== undefined) await run.callOff();
    else if (stored.epoch !== run.epoch) run.abandon();
  }

  /** Whoever runs it finds out with the next beat all the same. */
  async #tellEnd(id: string): Promise<void> {
    await this.#ends.publish({ id }).catch((err: unknown) => {
      this.#options.log.warn({ err, id }, 'the other replicas do not know yet what was called off');
    });
  }

  /** Where the run is not here, its tasks end all the same. */
  async #callOff({ steps }: StoredOrchestration): Promise<void> {
    const signal = AbortSignal.timeout(callingOffMs);
    const running = steps.filter(({ status }) => status === 'cancelled');
    await Promise.all(
      running.map(async ({ taskId }) => taskId !== undefined && this.#tasks.cancel(taskId, signal)),
    );
  }

  #beat(): void {
    this.#beating ??= this.#hold(false).finally(() => {
      this.#beating = undefined;
    });
  }

  /** Never rejects: a database that is away is asked again with the next beat. */
  async #hold(isAlone: boolean): Promise<void> {
    const { database, log } = this.#options;
    try {
      const hold = { replica: this.#replica, leaseMs: this.#leaseMs, isAlone };
      const countMax = this.#runs.size + takenMax;
      const open = [...this.#runs.keys()];
      const { epochs, taken } = await holdOrchestrations(database, { ...hold, countMax });
      if (this.#isStopped) return;
      for (const stored of taken) this.#run(stored);
      for (const id of open) if (!epochs.has(id)) this.#letGo(id);
    } catch (err) {
      log.warn({ err }, 'the leases of orchestrations could not be renewed; trying again');
    }
  }
}

function tooMany(runningMax: number): Fault {
  return new Fault('exhausted', `more than ${runningMax} orchestrations at a time are not run`, {
    reason: 'too_many_orchestrations',
    retryAfter: 5,
  });
}
