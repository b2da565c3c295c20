import { availableParallelism } from 'node:os';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { Job } from './job.ts';
import { identifyModel } from './model-file.ts';
import type { ChildSettings, FailedMessage, LoadedModel, ToParent } from './protocol.ts';
import {
  deadlineDefaultMs,
  resolveRequest,
  type GenerateEnd,
  type GenerateEvent,
  type GenerateRequest,
} from './request.ts';
import { Schedule, type Lane, type Start } from './schedule.ts';
import { Worker } from './worker.ts';

export type RuntimeState = 'idle' | 'starting' | 'ready' | 'crashed';

/** Runs GGUF models in one child process. Disposing waits for the open requests, up to a grace. */
export interface Runtime extends AsyncDisposable {
  /**
   * Streams a completion; nothing happens before the first event is asked for. Leaving the loop or
   * aborting the signal frees the place in the batch. Faults: `not_found` no such file, `invalid`
   * bad option or file or a prompt beyond the context, `exhausted` the queue is full, `deadline`,
   * `cancelled`, `unavailable` the child died, memory does not suffice or the runtime is closing.
   */
  generate(
    request: GenerateRequest,
    options?: { readonly signal?: AbortSignal },
  ): AsyncIterable<GenerateEvent>;
  /** What is in memory now. */
  loaded(): readonly LoadedModel[];
  /** `idle` has no child process; `crashed` means that the last one died and none followed yet. */
  readonly state: RuntimeState;
  /** The child process, while there is one. */
  readonly pid: number | undefined;
}

export interface RuntimeOptions {
  readonly log: Log;
  /** Requests per model that are evaluated in one batch. Default 4. */
  readonly parallel?: number;
  /** Requests per model that may wait for a place. Default 64. */
  readonly queueMax?: number;
  /**
   * Default: one less than the cores. llama.cpp's threads spin while they wait for one another, so
   * with more of them than free cores everything comes to a crawl.
   */
  readonly threads?: number;
  /** A model that is unused for so long leaves the memory, the last one with the process. */
  readonly idleUnloadMs?: number;
  /** Default 4096. Memory grows with this times `parallel`. */
  readonly contextTokensMax?: number;
  /** How long disposing lets open requests run. Default 10 s. */
  readonly closeGraceMs?: number;
  /**
   * How long the child may take to let go of a request that its caller gave up; then it counts as
   * hung and is killed. Default 30 s: a model being loaded or a block of a long prompt has to end.
   */
  readonly cancelGraceMs?: number;
}

/** Costs nothing until the first request, which starts the child process. */
export function createRuntime(options: RuntimeOptions): Runtime {
  return new ChildRuntime(options);
}

interface Running {
  readonly job: Job;
  readonly startedAt: number;
  /** Runs from the moment the caller gave up. */
  cancelTimer: NodeJS.Timeout | undefined;
}

class ChildRuntime implements Runtime {
  readonly #log: Log;
  readonly #settings: ChildSettings;
  readonly #schedule: Schedule;
  readonly #idleUnloadMs: number;
  readonly #closeGraceMs: number;
  readonly #cancelGraceMs: number;
  readonly #running = new Map<number, Running>();
  #worker: Worker | undefined;
  #isReady = false;
  #lastId = 0;
  /** Deaths of the child since a request last came to its end. */
  #crashes = 0;
  #restartAt = 0;
  #closing: Promise<void> | undefined;
  #notifyDrained = () => {};

  constructor(options: RuntimeOptions) {
    const { parallel = 4, queueMax = 64, contextTokensMax = 4096 } = options;
    const { threads = Math.max(1, availableParallelism() - 1) } = options;
    this.#log = options.log;
    this.#settings = { parallel, threads, contextTokensMax };
    this.#schedule = new Schedule({ parallel, queueMax });
    this.#idleUnloadMs = options.idleUnloadMs ?? 300_000;
    this.#closeGraceMs = options.closeGraceMs ?? 10_000;
    this.#cancelGraceMs = options.cancelGraceMs ?? 30_000;
  }

  get state(): RuntimeState {
    if (this.#worker) return this.#isReady ? 'ready' : 'starting';
    return this.#crashes > 0 ? 'crashed' : 'idle';
  }

  get pid(): number | undefined {
    return this.#worker?.pid;
  }

  loaded(): readonly LoadedModel[] {
    return this.#schedule.lanes.flatMap(({ loaded }) => loaded ?? []);
  }

  async *generate(
    request: GenerateRequest,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<GenerateEvent, void, undefined> {
    const work = resolveRequest(request);
    const deadlineAt = performance.now() + (request.deadlineMs ?? deadlineDefaultMs);
    const file = await identifyModel(request.modelPath);
    const job = new Job(++this.#lastId, file, work);
    const cancel = () => this.#giveUp(job, new Fault('cancelled', 'the caller gave up'));
    const expire = () => this.#giveUp(job, new Fault('deadline', 'the completion took too long'));
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

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #admit(job: Job): void {
    if (this.#closing) throw closingFault();
    const backoffMs = this.#restartAt - performance.now();
    if (!this.#worker && backoffMs > 0) throw crashedFault(backoffMs);
    this.#schedule.enqueue(job);
    this.#startNext();
  }

  #startNext(): void {
    for (let start = this.#schedule.next(); start; start = this.#schedule.next()) {
      this.#start(start);
    }
  }

  #start({ job, evicted }: Start): void {
    const { id, work, file } = job;
    const worker = (this.#worker ??= this.#fork());
    if (evicted) worker.send({ type: 'unload', key: evicted.key });
    clearTimeout(this.#schedule.lane(file.key)?.idleTimer);
    this.#running.set(id, { job, startedAt: performance.now(), cancelTimer: undefined });
    worker.send({ type: 'generate', id, key: file.key, path: file.path, work });
  }

  #fork(): Worker {
    this.#isReady = false;
    return new Worker(this.#settings, {
      received: (message) => this.#receive(message),
      died: (reason) => this.#recover(reason),
    });
  }

  #receive(message: ToParent): void {
    if (message.type === 'ready') this.#isReady = true;
    else if (message.type === 'text') this.#running.get(message.id)?.job.append(message.text);
    else if (message.type === 'end') this.#finish(message.id, message.end);
    else if (message.type === 'failed') this.#finish(message.id, toFault(message));
    else if (message.type === 'log')
      this.#log[message.level]({ llama: message.message }, 'llama.cpp');
    else this.#noteLoaded(this.#schedule.lane(message.key), message.model);
  }

  #noteLoaded(lane: Lane | undefined, model: LoadedModel): void {
    if (lane) lane.loaded = model;
    this.#log.info({ model }, 'model loaded');
  }

  /** The child has let go of this request, whether its caller still waits for it or not. */
  #finish(id: number, outcome: GenerateEnd | Fault): void {
    const running = this.#running.get(id);
    if (!running) return;
    this.#running.delete(id);
    clearTimeout(running.cancelTimer);
    running.job.settle(outcome);
    if (!(outcome instanceof Fault)) this.#crashes = 0;
    const tookMs = performance.now() - running.startedAt;
    const lane = this.#schedule.finish(running.job.file.key, tookMs);
    // First the timer: starting the next request may evict this very lane, which ends its timer.
    if (lane?.active === 0) this.#awaitIdle(lane);
    this.#startNext();
    if (this.#running.size === 0) this.#notifyDrained();
  }

  #awaitIdle(lane: Lane): void {
    clearTimeout(lane.idleTimer);
    lane.idleTimer = setTimeout(() => this.#unload(lane), this.#idleUnloadMs);
  }

  #unload(lane: Lane): void {
    this.#schedule.close(lane);
    this.#log.info({ model: lane.loaded?.path }, 'model unloaded');
    if (this.#schedule.lanes.length > 0) this.#worker?.send({ type: 'unload', key: lane.key });
    else void this.#retire();
  }

  /** The caller gets the Fault now; the place in the batch is free once the child has let go. */
  #giveUp(job: Job, fault: Fault): void {
    if (job.isSettled) return;
    this.#schedule.withdraw(job);
    job.settle(fault);
    const running = this.#running.get(job.id);
    if (!running) return;
    this.#worker?.send({ type: 'cancel', id: job.id });
    running.cancelTimer = setTimeout(() => this.#worker?.kill(), this.#cancelGraceMs);
  }

  #takeRunning(): Job[] {
    const running = [...this.#running.values()];
    this.#running.clear();
    for (const { cancelTimer } of running) clearTimeout(cancelTimer);
    return running.map(({ job }) => job);
  }

  #recover(reason: string): void {
    const inFlight = this.#takeRunning();
    this.#log.error({ reason, inFlight: inFlight.length }, 'the model process died');
    this.#worker = undefined;
    this.#schedule.lanes.forEach((lane) => this.#schedule.close(lane));
    const backoffMs = restartDelayMs(++this.#crashes);
    this.#restartAt = performance.now() + backoffMs;
    for (const job of inFlight) job.settle(crashedFault(backoffMs));
    if (backoffMs === 0) this.#startNext();
    else for (const job of this.#schedule.drainWaiting()) job.settle(crashedFault(backoffMs));
    if (this.#running.size === 0) this.#notifyDrained();
  }

  async #retire(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.stop();
  }

  async #close(): Promise<void> {
    for (const job of this.#schedule.drainWaiting()) job.settle(closingFault());
    if (this.#running.size > 0) await this.#awaitDrained();
    for (const job of this.#takeRunning()) job.settle(closingFault());
    this.#schedule.lanes.forEach((lane) => this.#schedule.close(lane));
    await this.#retire();
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

/** The first restart is immediate; then the pauses double, so a crash loop costs little. */
function restartDelayMs(crashes: number): number {
  return crashes <= 1 ? 0 : Math.min(30_000, 1000 * 2 ** (crashes - 2));
}

function crashedFault(backoffMs: number): Fault {
  const retryAfter = Math.max(1, Math.ceil(backoffMs / 1000));
  return new Fault('unavailable', 'the local model process died', { retryAfter });
}

function closingFault(): Fault {
  return new Fault('unavailable', 'the local runtime is shutting down');
}

function toFault({ code, message, cause }: FailedMessage): Fault {
  return new Fault(code, message, { cause });
}
