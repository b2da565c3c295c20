import { Fault } from '../../kit/errors.ts';
import { requireComponents } from '../components/component-permissions.ts';
import { cancelStored } from './cancelling.ts';
import { Children, type ChildrenParts } from './children.ts';
import { systemClock, type Clock } from './clock.ts';
import { Ends } from './ends.ts';
import { engineMetrics, type EngineMetrics } from './engine-metrics.ts';
import { EventHub } from './events.ts';
import { toExecution, type StoredExecution } from './journal/execution-row.ts';
import type {
  Engine,
  Execution,
  ExecutionEvent,
  GoingOn,
  NodeRun,
  StartRequest,
  NodePage,
  NodeWindow,
} from './execution.ts';
import {
  listExecutions,
  readExecution,
  signalNode,
  type ExecutionFilter,
  type SignalPlace,
} from './journal/executions-store.ts';
import { copyNodes } from './journal/node-runs-store.ts';
import { readFirstStart } from './first-start.ts';
import { executionNotFound, followExecution } from './follow.ts';
import { Journal } from './journal/journal.ts';
import { readNodePage } from './journal/node-pages.ts';
import { callbacksOf, openInputs, toNewExecution } from './requests.ts';
import { Reopening } from './reopening.ts';
import { nodesKept, requireReached, rerunRequest } from './rerun.ts';
import { Notices, type Notice } from './replicas/notices.ts';
import type { EngineOptions } from './engine-options.ts';
import { Runs } from './replicas/runs.ts';
import { EndWaiters } from './end-waiters.ts';

const waitPollMs = 500;

/** Opens the engine and takes up whatever was left; rejects when the database is away. */
export async function openEngine(options: EngineOptions): Promise<WorkflowEngine> {
  const engine = new WorkflowEngine(options);
  await engine.open();
  return engine;
}

/** Durable executions over SQL: our own journal, leases and fencing. Disposing it gives up what runs. */
export class WorkflowEngine implements Engine, AsyncDisposable {
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #hub = new EventHub();
  readonly #metrics: EngineMetrics;
  readonly #journal: Journal;
  readonly #runs: Runs;
  readonly #ends: Ends;
  readonly #children: Children;
  readonly #notices: Notices;
  readonly #reopening: Reopening;
  readonly #waiters = new EndWaiters();

  constructor(options: EngineOptions) {
    const { sql, log, bus, metrics, sealer, isAlone, silenceMs = 10_000 } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#reopening = new Reopening({ ...options, clock: this.#clock });
    this.#notices = new Notices(bus, log, (notice) => this.#hear(notice));
    this.#journal = new Journal({ sql, log, patienceMs: silenceMs * 0.8, isAlone });
    const signal: ChildrenParts['signal'] = (at, answer) => this.signal(at, answer);
    this.#children = new Children({ sql, log, signal, cancel: (id, by) => this.cancel(id, by) });
    this.#ends = new Ends({
      sql,
      log,
      signal,
      cancelChildren: (executionId) => this.#children.cancelAbandoned({ parentId: executionId }),
      callbacksOf: (stored) => callbacksOf(stored, sealer),
    });
    this.#metrics = engineMetrics(metrics, {
      active: () => this.#runs.activeCount,
      queued: () => this.#runs.queuedCount,
    });
    this.#runs = new Runs(options, {
      clock: this.#clock,
      journal: this.#journal,
      hub: this.#hub,
      metrics: this.#metrics,
      ends: this.#ends,
      children: this.#children,
      onEnded: (stored) => this.#waiters.tell(stored),
    });
  }

  async open(): Promise<void> {
    await this.#notices.open();
    if (this.#options.isAlone) await this.#ends.tellMissed(true);
    await this.#runs.start();
  }

  /** Executions that run in this process. */
  get activeCount(): number {
    return this.#runs.activeCount;
  }

  async start(request: StartRequest): Promise<Execution> {
    const { plans, sealer } = this.#options;
    const loaded = await plans.load(request.workflowId, request.version);
    requireComponents(loaded.plan, request.permissions, request.pinned);
    const nowMs = this.#clock.nowMs();
    const stored = toNewExecution(request, loaded, { sealer, nowMs });
    return this.#begin(stored, loaded.plan);
  }

  async wait(
    executionId: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Execution> {
    const untilMs = Date.now() + timeoutMs;
    for (;;) {
      // Heard from before it is read, so that an end in between is not missed.
      const ended = this.#waiters.next(
        executionId,
        Math.min(untilMs - Date.now(), waitPollMs),
        signal,
      );
      // The end of what runs here is heard of, and need not be read.
      const isHeard = this.#runs.has(executionId) && Date.now() < untilMs;
      const stored = isHeard ? undefined : await this.#read(executionId);
      const isOver = signal?.aborted || Date.now() >= untilMs;
      if (stored && (isOver || stored.completedAtMs !== undefined)) return toExecution(stored);
      const heard = await ended;
      if (heard) return toExecution(heard);
      if (signal?.aborted) return toExecution(await this.#read(executionId));
    }
  }

  async find(executionId: string): Promise<Execution | undefined> {
    const stored = await readExecution(this.#options.sql, executionId);
    return stored && toExecution(stored);
  }

  /** A page of executions, newest first, with the number of all. */
  async list(
    filter: ExecutionFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly executions: readonly Execution[]; readonly total: number }> {
    const { executions, total } = await listExecutions(this.#options.sql, filter, page);
    return { executions: executions.map(toExecution), total };
  }

  async nodeRuns(executionId: string): Promise<readonly NodeRun[]> {
    return (await this.nodePage(executionId)).nodes;
  }

  async nodePage(executionId: string, window: NodeWindow = {}): Promise<NodePage> {
    return readNodePage(this.#options.sql, await this.#read(executionId), window);
  }

  async cancel(executionId: string, by: string): Promise<Execution> {
    const nowMs = this.#clock.nowMs();
    const ended = await cancelStored(this.#options.sql, executionId, { by, nowMs });
    if (!ended) {
      await this.#read(executionId);
      throw new Fault('conflict', 'the execution has ended', { reason: 'already_ended' });
    }
    const { stored, event } = ended;
    this.#runs.drop(executionId, cancelledFault());
    this.#hub.tell(executionId, [event]);
    await this.#notices.tell({ kind: 'cancelled', executionId });
    await this.#children.cancelAbandoned({ parentId: executionId }, by);
    this.#metrics.ended('cancelled');
    this.#ends.tell(stored, { mayLeaveChildren: false });
    this.#waiters.tell(stored);
    return toExecution(stored);
  }

  async resume(
    executionId: string,
    asker: Parameters<Engine['resume']>[1] = {},
  ): Promise<Execution> {
    // One that it leaves behind must not be cancelled once it waits for it again.
    await this.cancelAbandoned(executionId);
    const stored = await this.#reopening.reopen(executionId, asker);
    this.#runs.nudge();
    return toExecution(stored);
  }

  /**
   * Has a failed or cancelled execution within another go on. It was left behind at its start, so that
   * nothing of it was counted yet. False when it has to be started anew.
   */
  async goOn(executionId: string, going: GoingOn): Promise<boolean> {
    const goesOn = await this.#reopening.goOn(executionId, going);
    if (goesOn) this.#runs.nudge();
    return goesOn;
  }

  async rerun(executionId: string, options: Parameters<Engine['rerun']>[1]): Promise<Execution> {
    const { sql, plans, sealer } = this.#options;
    const before = await this.#read(executionId);
    const loaded = await plans.load(before.workflowId, before.version);
    requireComponents(loaded.plan, options.permissions);
    const nodeIds = nodesKept(loaded.plan, options.fromNode);
    await requireReached(loaded.plan, options.fromNode, (filter) =>
      this.nodePage(executionId, { filter, limit: 1 }),
    );
    const request = rerunRequest(openInputs(before, sealer), options);
    const stored = toNewExecution(request, loaded, { sealer, nowMs: this.#clock.nowMs() });
    await copyNodes(sql, { from: executionId, to: stored.id, nodeIds });
    // Through the queue, where its journal is read.
    await this.#journal.start(stored);
    this.#runs.nudge();
    return toExecution(stored);
  }

  /** Cancels the executions within one that it waits for no more. */
  async cancelAbandoned(executionId: string): Promise<void> {
    await this.#children.cancelAbandoned({ parentId: executionId });
  }

  async signal(at: SignalPlace, outcome: Parameters<Engine['signal']>[1]): Promise<boolean> {
    const { executionId } = at;
    if (!(await signalNode(this.#options.sql, at, outcome))) return false;
    if (!(await this.#runs.wake(executionId))) {
      await this.#notices.tell({ kind: 'signalled', executionId });
    }
    return true;
  }

  follow(executionId: string, after: number, signal: AbortSignal): AsyncIterable<ExecutionEvent> {
    const { sql } = this.#options;
    return followExecution({ sql, hub: this.#hub }, executionId, { after, signal });
  }

  onEnded(listener: (execution: Execution) => Promise<void>): void {
    this.#ends.listen(listener);
  }

  /** Lets nodes that are nearly done end, gives the rest back, and leaves. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#notices.close();
    await this.#runs.stop();
    await this.#ends.settled();
  }

  async #begin(stored: StoredExecution, plan: Parameters<Runs['admit']>[1]): Promise<Execution> {
    const admitted = this.#runs.admit(stored, plan);
    try {
      if (await this.#journal.start(admitted.stored)) {
        admitted.begin();
        return toExecution(admitted.stored);
      }
    } catch (error) {
      admitted.giveUp();
      throw error;
    }
    return this.#findStarted(admitted);
  }

  /** An execution that was not stored, because it was before: by its key, or by an answer that was lost. */
  async #findStarted(admitted: ReturnType<Runs['admit']>): Promise<Execution> {
    const { sql, sealer } = this.#options;
    const own = await readExecution(sql, admitted.stored.id);
    if (own) {
      admitted.begin();
      return toExecution(own);
    }
    admitted.giveUp();
    const first = await readFirstStart(sql, admitted.stored, sealer);
    if (first) return toExecution(first);
    throw new Fault('unavailable', 'the execution could not be stored', { retryAfter: 1 });
  }

  #hear({ kind, executionId }: Notice): void {
    if (kind === 'signalled') void this.#runs.wake(executionId);
    else this.#runs.drop(executionId, cancelledFault());
  }

  async #read(executionId: string): Promise<StoredExecution> {
    const stored = await readExecution(this.#options.sql, executionId);
    if (!stored) throw executionNotFound();
    return stored;
  }
}

function cancelledFault(): Fault {
  return new Fault('cancelled', 'the execution was cancelled');
}
