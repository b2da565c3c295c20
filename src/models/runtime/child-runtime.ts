import { availableParallelism } from 'node:os';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Embeddings, SpokenEvent } from '../inference/request.ts';
import { templateMsDefault } from './bounded.ts';
import { assess } from './casualties.ts';
import { toEmbeddings } from './embedding.ts';
import { closingFault, crashedFault, toFault } from './faults.ts';
import { Job, timerMaxMs, type JobEvent } from './job.ts';
import type { Lane } from './lanes.ts';
import { defaultBudgetBytes } from './memory.ts';
import { badFileFault, ModelFiles } from './model-file.ts';
import type { Task, TaskEnd, ToParent } from './protocol.ts';
import { checkTexts, checkTimes, deadlineDefaultMs, resolveRequest } from './request.ts';
import type { RuntimeRequest } from './request.ts';
import type * as Contract from './runtime.ts';
import { Schedule, type Start } from './schedule.ts';
import { busyFactor, stallMsDefault } from './stillness.ts';
import { Supervisor, type Death } from './supervisor.ts';
import { checkTask } from './task-check.ts';

interface Running {
  readonly job: Job;
  readonly startedAt: number;
  /** Runs from the moment the caller gave up. */
  cancelTimer: NodeJS.Timeout | undefined;
}

/** The runtime over one supervised child, which the first request starts; until then it costs nothing. */
export class ChildRuntime implements Contract.Runtime {
  readonly #log: Log;
  readonly #schedule: Schedule;
  readonly #files: ModelFiles;
  readonly #supervisor: Supervisor;
  readonly #idleUnloadMs: number;
  readonly #closeGraceMs: number;
  readonly #cancelGraceMs: number;
  readonly #deadlineMs: number;
  readonly #running = new Map<number, Running>();
  /** Who waits for a lane to be gone. */
  readonly #departures = new Map<Lane, (() => void)[]>();
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #notifyDrained = () => {};

  constructor(options: Contract.RuntimeOptions) {
    const { parallel = 4, queueMax = 64, contextTokensMax = 4096 } = options;
    const { threads = Math.max(1, availableParallelism() - 1) } = options;
    const { memoryBytes = defaultBudgetBytes(), templateMs = templateMsDefault } = options;
    const { stallMs = stallMsDefault, cancelGraceMs = busyFactor * stallMs } = options;
    this.#log = options.log;
    this.#files = new ModelFiles({ parallel, contextTokensMax });
    this.#schedule = new Schedule({ parallel, queueMax, memoryBytes });
    this.#supervisor = new Supervisor(
      { parallel, threads, contextTokensMax, templateMs },
      {
        received: (message) => this.#receive(message),
        died: (death) => this.#recover(death),
        isWorking: () => this.#running.size > 0,
      },
      { stallMs },
    );
    this.#idleUnloadMs = options.idleUnloadMs ?? 300_000;
    this.#closeGraceMs = options.closeGraceMs ?? 10_000;
    this.#cancelGraceMs = cancelGraceMs;
    this.#deadlineMs = options.deadlineMs ?? deadlineDefaultMs;
  }

  get state(): Contract.RuntimeState {
    return this.#supervisor.state;
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  loaded(): readonly Contract.ModelInMemory[] {
    return this.#schedule.lanes.flatMap(({ loaded, file, expiresAt }) =>
      loaded ? [{ ...loaded, memoryBytes: file.memoryBytes, expiresAt }] : [],
    );
  }

  async *generate(
    request: RuntimeRequest,
    caller: Contract.RuntimeCaller = {},
  ): AsyncGenerator<SpokenEvent, void, undefined> {
    const task = { kind: 'generate', work: resolveRequest(request) } as const;
    for await (const event of this.#run(task, request, caller)) {
      if (event.type !== 'embedded' && event.type !== 'loaded') yield event;
    }
  }

  async embed(
    request: Contract.EmbedRequest,
    caller: Contract.RuntimeCaller = {},
  ): Promise<Embeddings> {
    checkTexts(request.texts);
    for await (const event of this.#run({ kind: 'embed', texts: request.texts }, request, caller)) {
      if (event.type === 'embedded') return toEmbeddings(event);
    }
    throw new Error('an embedding ended without its end event');
  }

  async load(request: Contract.LoadRequest, caller: Contract.RuntimeCaller = {}): Promise<void> {
    for await (const event of this.#run({ kind: 'load' }, request, caller)) {
      if (event.type === 'loaded') return;
    }
  }

  async unload(modelPath: string): Promise<void> {
    const lanes = this.#schedule.lanes.filter(({ file }) => file.path === modelPath);
    await Promise.all(lanes.map((lane) => this.#expel(lane)));
  }

  async flawOf(modelPath: string): Promise<Fault | undefined> {
    try {
      const file = await this.#files.identify(modelPath);
      this.#schedule.checkFits(file);
      return this.#files.hasFailed(file) ? badFileFault() : undefined;
    } catch (error) {
      return Fault.from(error);
    }
  }

  async hasWorked(modelPath: string): Promise<boolean> {
    return this.#files.hasWorked(await this.#files.identify(modelPath));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async *#run(
    task: Task,
    { modelPath, deadlineMs = this.#deadlineMs, keepAliveMs }: Contract.LoadRequest,
    { subject = '', signal }: Contract.RuntimeCaller,
  ): AsyncGenerator<JobEvent, void, undefined> {
    checkTimes(deadlineMs, keepAliveMs);
    const deadlineAt = performance.now() + deadlineMs;
    const file = await this.#files.identify(modelPath);
    checkTask(task, file);
    const job = new Job({ id: ++this.#lastId, file, task, subject, keepAliveMs });
    const cancel = () => this.#giveUp(job, new Fault('cancelled', 'the caller gave up'));
    const expire = () => this.#giveUp(job, new Fault('deadline', 'the request took too long'));
    const timer = setTimeout(expire, deadlineAt - performance.now());
    signal?.addEventListener('abort', cancel);
    try {
      if (signal?.aborted) cancel();
      else this.#admit(job);
      yield* job.events();
    } finally {
      signal?.removeEventListener('abort', cancel);
      clearTimeout(timer);
      cancel();
    }
  }

  #admit(job: Job): void {
    if (this.#closing) throw closingFault();
    const { backoffMs } = this.#supervisor;
    if (backoffMs > 0) throw crashedFault(backoffMs);
    const displaced = this.#schedule.enqueue(job);
    displaced?.settle(this.#schedule.refusal(1));
    this.#startNext();
  }

  #startNext(): void {
    for (let start = this.#schedule.next(); start; start = this.#schedule.next()) {
      this.#start(start);
    }
  }

  #start({ job, evicted }: Start): void {
    const { id, task, file, subject } = job;
    for (const lane of evicted) this.#supervisor.notify({ type: 'unload', key: lane.file.key });
    this.#running.set(id, { job, startedAt: performance.now(), cancelTimer: undefined });
    const { key, path, kind: model } = file;
    this.#supervisor.send({ type: 'run', id, key, path, model, subject, task });
  }

  #receive(message: ToParent): void {
    if (message.type === 'text') this.#running.get(message.id)?.job.append(message.text);
    else if (message.type === 'call') this.#running.get(message.id)?.job.appendCall(message.call);
    else if (message.type === 'end') this.#finish(message.id, message.end);
    else if (message.type === 'failed') this.#finish(message.id, toFault(message));
    else if (message.type === 'log')
      this.#log[message.level]({ llama: message.message }, 'llama.cpp');
    else if (message.type === 'loaded') {
      const lane = this.#schedule.lane(message.key);
      if (lane) lane.loaded = message.model;
      this.#log.info({ model: message.model }, 'model loaded');
    }
  }

  /** The child has let go of this request, whether its caller still waits for it or not. */
  #finish(id: number, outcome: TaskEnd | Fault): void {
    const running = this.#running.get(id);
    if (!running) return;
    this.#running.delete(id);
    clearTimeout(running.cancelTimer);
    running.job.settle(outcome);
    if (!(outcome instanceof Fault)) this.#supervisor.noteSuccess();
    this.#files.noteOutcome(running.job, outcome);
    const lane = this.#schedule.finish(running.job, performance.now() - running.startedAt);
    // First the timer: starting the next request may evict this very lane, which ends its timer.
    if (lane?.active === 0) this.#awaitIdle(lane, lane.keepAliveMs ?? this.#idleUnloadMs);
    this.#startNext();
    if (this.#running.size === 0) this.#notifyDrained();
  }

  #awaitIdle(lane: Lane, keepAliveMs: number): void {
    clearTimeout(lane.idleTimer);
    // What could not be loaded takes no memory.
    if (lane.isLeaving || keepAliveMs === 0 || !lane.loaded) return this.#unload(lane);
    if (keepAliveMs > timerMaxMs) return;
    lane.expiresAt = new Date(Date.now() + keepAliveMs);
    lane.idleTimer = setTimeout(() => this.#unload(lane), keepAliveMs);
  }

  async #expel(lane: Lane): Promise<void> {
    lane.isLeaving = true;
    const gone = new Promise<void>((resolve) => {
      this.#departures.set(lane, [...(this.#departures.get(lane) ?? []), resolve]);
    });
    if (lane.active === 0) {
      this.#unload(lane);
      this.#startNext();
    }
    await gone;
  }

  #unload(lane: Lane): void {
    this.#closeLane(lane);
    if (lane.loaded) this.#log.info({ model: lane.loaded.path }, 'model unloaded');
    if (this.#schedule.lanes.length === 0 && lane.loaded) void this.#supervisor.retire();
    else this.#supervisor.notify({ type: 'unload', key: lane.file.key });
  }

  #closeLane(lane: Lane): void {
    this.#schedule.close(lane);
    for (const resolve of this.#departures.get(lane) ?? []) resolve();
    this.#departures.delete(lane);
  }

  /** The caller gets the Fault now; the place in the batch is free once the child has let go. */
  #giveUp(job: Job, fault: Fault): void {
    if (job.isSettled) return;
    this.#schedule.withdraw(job);
    job.settle(fault);
    const running = this.#running.get(job.id);
    if (!running) return;
    this.#supervisor.notify({ type: 'cancel', id: job.id });
    running.cancelTimer = setTimeout(() => this.#supervisor.kill(), this.#cancelGraceMs);
  }

  #takeRunning(): Job[] {
    const running = [...this.#running.values()];
    this.#running.clear();
    for (const { cancelTimer } of running) clearTimeout(cancelTimer);
    return running.map(({ job }) => job);
  }

  #recover({ reason, signal, backoffMs }: Death): void {
    const inFlight = this.#takeRunning();
    const { culprit, isCertain, lost, unharmed } = assess(inFlight, this.#schedule.lanes, {
      signal,
      hasAnswered: (file) => this.#files.hasAnswered(file),
    });
    this.#log.error({ reason, inFlight: inFlight.length }, 'the model process died');
    for (const lane of this.#schedule.lanes) this.#closeLane(lane);
    const bad = culprit && this.#files.blame(culprit.file, isCertain) ? culprit.file : undefined;
    for (const job of lost) {
      job.settle(job.file === bad ? badFileFault() : crashedFault(backoffMs));
    }
    this.#schedule.requeue(unharmed.filter((job) => !job.isSettled));
    if (backoffMs === 0) this.#startNext();
    else for (const job of this.#schedule.drainWaiting()) job.settle(crashedFault(backoffMs));
    if (this.#running.size === 0) this.#notifyDrained();
  }

  async #close(): Promise<void> {
    for (const job of this.#schedule.drainWaiting()) job.settle(closingFault());
    if (this.#running.size > 0) await this.#awaitDrained();
    for (const job of this.#takeRunning()) job.settle(closingFault());
    for (const lane of this.#schedule.lanes) this.#closeLane(lane);
    await this.#supervisor.retire();
  }

  async #awaitDrained(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#notifyDrained = resolve;
      timer = setTimeout(resolve, this.#closeGraceMs);
    });
    clearTimeout(timer);
  }
}
