import { Fault } from '../../../kit/errors.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Children } from '../children.ts';
import type { Clock } from '../clock.ts';
import type { EndFacts, Ends } from '../ends.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineMetrics } from '../engine-metrics.ts';
import type { EventHub } from '../events.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import { releaseExecutions } from '../journal/executions-store.ts';
import { readSignalled } from '../journal/node-runs-store.ts';
import type { Journal } from '../journal/journal.ts';
import { failureOf } from '../run/node-failure.ts';
import { graceOf } from './grace.ts';
import { Places } from './places.ts';
import { Queue } from './queue.ts';
import { hasCancelled, noHistory, waitsForChild, type History } from '../run/recovery.ts';
import { Replica } from './replica.ts';
import { countOpen, deleteEnded, readHeld, type Beat } from './replicas-store.ts';
import { callerTokenOf } from '../requests.ts';
import type { RunEnvironment, RunOver } from '../run/run-environment.ts';
import { openSecrets } from '../run/run-secrets.ts';
import { Run } from '../run/run.ts';
import { Turns } from './turns.ts';

export interface RunsParts {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly hub: EventHub;
  readonly metrics: EngineMetrics;
  readonly ends: Ends;
  readonly children: Children;
  readonly onEnded: (stored: StoredExecution) => void;
}

/** An execution that found a place, or has to wait for one. */
export interface Admitted {
  readonly stored: StoredExecution;
  /** It is stored. */
  readonly begin: () => void;
  /** It was not. */
  readonly giveUp: () => void;
}

const concurrencyDefault = 200;
const nodeRunsMaxDefault = 100_000;
const retentionMsDefault = 30 * 24 * 3_600_000;
const forgetEveryMs = 3_600_000;
const forgetMax = 2_000;

/** The executions that this process runs. */
export class Runs {
  readonly #options: EngineOptions;
  readonly #parts: RunsParts;
  readonly #env: RunEnvironment;
  readonly #runs = new Map<string, Run>();
  readonly #queue: Queue;
  readonly #replica: Replica;
  readonly #places: Places;
  #released: StoredExecution[] = [];
  #forgetAtMs = Date.now() + forgetEveryMs;
  queuedCount = 0;

  constructor(options: EngineOptions, parts: RunsParts) {
    const { sql, log, isAlone, beatMs = 2_000, silenceMs = 10_000 } = options;
    this.#options = options;
    this.#parts = parts;
    this.#places = new Places(options.concurrency ?? concurrencyDefault, () => this.#runs.size);
    this.#env = this.#environment();
    this.#queue = new Queue({
      sql,
      log,
      replica: () => this.#replica.id,
      places: this.#places,
      clock: parts.clock,
      take: (stored, history) => this.#takeUp(stored, history),
      cancelAbandoned: (childIds) => parts.children.cancelAbandoned({ childIds }),
    });
    this.#replica = new Replica({
      sql,
      log,
      isAlone,
      beatMs,
      silenceMs,
      onBeat: (seen) => void this.#look(seen),
      onLost: () => this.#dropAll(),
    });
  }

  get activeCount(): number {
    return this.#runs.size;
  }

  has(executionId: string): boolean {
    return this.#runs.has(executionId);
  }

  async start(): Promise<void> {
    await this.#replica.start();
    this.nudge();
  }

  /** Something was queued. */
  nudge(): void {
    this.#queue.hasWaiting = true;
    this.#queue.nudge();
  }

  /** Gives a new execution a place here, unless others wait for one. */
  admit(stored: StoredExecution, plan: Plan): Admitted {
    if (this.#queue.hasWaiting || this.#places.keep(1) === 0) {
      return { stored, begin: () => this.nudge(), giveUp: () => {} };
    }
    const running = { ...stored, status: 'running', replica: this.#replica.id } as const;
    return {
      stored: running,
      begin: () => {
        this.#places.giveBack(1);
        this.#begin(running, plan, noHistory);
      },
      giveUp: () => {
        this.#places.giveBack(1);
      },
    };
  }

  /** Ends this process's part in an execution that is over or runs elsewhere. */
  drop(executionId: string, reason: Error): void {
    const run = this.#runs.get(executionId);
    if (!run) return;
    this.#runs.delete(executionId);
    run.stop(reason);
    this.#queue.nudge();
  }

  /** Has a run take answers to its parked nodes; false when others may run it. */
  async wake(executionId: string): Promise<boolean> {
    const run = this.#runs.get(executionId);
    if (!run || run.isOver) {
      this.nudge();
      return false;
    }
    await run.holding(async () => {
      run.takeSignals(await readSignalled(this.#options.sql, executionId));
    });
    // One that parked meanwhile was queued in place of it.
    if (run.isOver) this.nudge();
    return true;
  }

  /** Waits a little for what is nearly done, and gives the rest back. */
  async stop(): Promise<void> {
    this.#places.close();
    await this.#queue.stop();
    for (const run of this.#runs.values()) run.drain();
    const untilMs = Date.now() + graceOf(this.#options.graceMs?.());
    const isBusy = () => [...this.#runs.values()].some((run) => !run.isQuiet);
    while (isBusy() && Date.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const left = [...this.#runs.values()];
    this.#dropAll();
    const { sql, log } = this.#options;
    try {
      const stored = [...left.map((run) => run.stored), ...this.#released];
      if (stored.length > 0) await releaseExecutions(sql, stored);
      await this.#replica.stop();
    } catch (error) {
      log.warn({ err: error }, 'executions could not be given back; others take them in a while');
    }
  }

  #environment(): RunEnvironment {
    const { tracer, log, sealer, nodesMax = 32, nodeRunsMax = nodeRunsMaxDefault } = this.#options;
    const { clock, journal, hub, metrics, ends, children } = this.#parts;
    return {
      journal,
      clock,
      tracer,
      log,
      metrics,
      events: hub,
      nodesMax,
      nodeRunsMax,
      turns: new Turns(),
      callerToken: async (stored) => callerTokenOf(stored, sealer),
      tellAtMs: (stored, facts) => ends.tellAtMs(stored, { ...facts, nowMs: clock.nowMs() }),
      children,
    };
  }

  #begin(stored: StoredExecution, plan: Plan, history: History): void {
    const ground = openSecrets({ stored, plan, history }, this.#options.sealer);
    const run: Run = new Run(ground, this.#env, (over) => this.#end(run, over));
    this.#runs.set(stored.id, run);
    run.begin();
  }

  async #takeUp(stored: StoredExecution, history: History): Promise<void> {
    const { children } = this.#parts;
    try {
      const { plan } = await this.#options.plans.load(stored.workflowId, stored.version);
      this.#begin(stored, plan, history);
      // One may have ended while this execution was over.
      if (waitsForChild(history)) void children.settle(stored.id);
      if (hasCancelled(history)) void children.drop(stored.id);
    } catch (error) {
      await this.#refuse(stored, history, error);
    }
  }

  /** An execution whose flow cannot be had fails, unless that may be different in a moment. */
  async #refuse(stored: StoredExecution, history: History, thrown: unknown): Promise<void> {
    const { error, isRetryable } = failureOf(thrown);
    const { id, epoch, tokensUsed, cost, signals } = stored;
    this.#options.log.error({ err: thrown, executionId: id }, 'an execution cannot be taken up');
    const { clock, journal, ends } = this.#parts;
    const nowMs = clock.nowMs();
    if (isRetryable && Fault.from(thrown).code !== 'internal') {
      this.#released.push(stored);
      return;
    }
    const failed = { nodeId: '', attempt: 1, ...error };
    const outcome = { error: failed, retryable: isRetryable };
    const event = {
      type: 'workflow-failed',
      executionId: id,
      timestamp: new Date(nowMs).toISOString(),
      seq: history.lastSeq + 1,
      error: failed,
    } as const;
    const change = { status: 'failed', tokensUsed, cost, signals, completedAtMs: nowMs } as const;
    const facts = { mayLeaveChildren: true };
    const tellAtMs = ends.tellAtMs(stored, { ...facts, nowMs });
    const told = tellAtMs === undefined ? {} : { tellAtMs };
    const entry = { executionId: id, epoch, nodes: [], events: [event] };
    await journal.write({ ...entry, change: { ...change, outcome, ...told } });
    this.#noteEnd({ ...stored, status: 'failed', completedAtMs: nowMs, outcome }, facts);
  }

  /** A portion an hour or, while there is more, a beat. */
  async #forgetOld(): Promise<void> {
    const { sql, retentionMs = retentionMsDefault } = this.#options;
    if (Date.now() < this.#forgetAtMs) return;
    const count = await deleteEnded(sql, new Date(Date.now() - retentionMs), forgetMax);
    if (count < forgetMax) this.#forgetAtMs = Date.now() + forgetEveryMs;
  }

  #end(run: Run, over: RunOver): void {
    const { id } = run.stored;
    if (this.#runs.get(id) === run) this.#runs.delete(id);
    if (over.kind === 'ended') this.#noteEnd(over.stored, over.facts);
    else if (over.kind === 'parked')
      this.#replica.lookAt(over.wakeAtMs ?? Number.POSITIVE_INFINITY);
    else if (over.mustRelease) this.#released.push(run.stored);
    this.#queue.nudge();
  }

  #noteEnd(stored: StoredExecution, facts: EndFacts): void {
    const { metrics, ends, onEnded } = this.#parts;
    metrics.ended(stored.status);
    onEnded(stored);
    ends.tell(stored, facts);
  }

  #dropAll(): void {
    for (const run of this.#runs.values()) run.stop(new Fault('unavailable', 'the service stops'));
    this.#runs.clear();
  }

  /** What others took while this replica was silent stops here before it has anything to write. */
  async #dropTaken(): Promise<void> {
    const runs = [...this.#runs.values()];
    const held = await readHeld(this.#options.sql, this.#replica.id);
    for (const run of runs) {
      const { id, epoch } = run.stored;
      if (!run.isOver && held.get(id) !== epoch) this.drop(id, takenFault());
    }
  }

  async #look({ wasSilent, hasQueued, hasUntold }: Beat): Promise<void> {
    const { sql, log } = this.#options;
    try {
      if (wasSilent) await this.#dropTaken();
      const released = this.#released;
      this.#released = [];
      if (released.length > 0) await releaseExecutions(sql, released);
      if (hasUntold) await this.#parts.ends.tellMissed(false);
      await this.#forgetOld();
      this.queuedCount = hasQueued ? (await countOpen(sql)).queued : 0;
    } catch (error) {
      log.warn({ err: error }, 'executions could not be looked after; trying again');
    }
    if (hasQueued) this.nudge();
  }
}

function takenFault(): Fault {
  return new Fault('unavailable', 'another replica runs the execution');
}
