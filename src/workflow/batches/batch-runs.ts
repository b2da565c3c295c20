import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import type { BatchCallbacks } from './batch-callbacks.ts';
import { BatchRun, type BatchRunOptions } from './batch-run.ts';
import type { Batch, BatchNews } from './batch.ts';
import { claimBatches, releaseLeases, renewLeases } from './run-store.ts';

export interface BatchRunsOptions extends Pick<
  BatchRunOptions,
  'sql' | 'engine' | 'sealer' | 'log' | 'now'
> {
  readonly callbacks: Pick<BatchCallbacks, 'noteProgress' | 'noteEnd' | 'forget'>;
  readonly topic: Topic<BatchNews>;
  /** No other process runs batches on this database. */
  readonly isAlone: boolean;
}

const leaseMs = 15_000;
const renewEveryMs = 4_000;
/** On one replica; the rest waits, or is taken by others. */
const runsMax = 64;
const newsEveryMs = 200;
/** News may be lost with a bus that is away. */
const newsWaitMs = 2_000;

/** The batches that this replica runs, each under a lease that others take over when it runs out. */
export class BatchRuns implements AsyncDisposable {
  readonly #options: BatchRunsOptions;
  readonly #runs = new Map<string, BatchRun>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #toldAtMs = new Map<string, number>();
  readonly #newsTimers = new Map<string, NodeJS.Timeout>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> = Promise.resolve();
  #isClaimWanted = false;
  #isClosed = false;

  constructor(options: BatchRunsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#runs.size;
  }

  async start(): Promise<void> {
    this.#subscription = await this.#options.topic.subscribe(({ data }) => this.#receive(data));
    this.#timer = setInterval(() => void this.#keep(), renewEveryMs).unref();
    await this.#claim(this.#options.isAlone);
  }

  /** Takes up what nobody runs, also what came during a claim before. */
  wake(): void {
    if (this.#isClaimWanted) return;
    this.#isClaimWanted = true;
    this.#claiming = this.#claiming.then(() => {
      this.#isClaimWanted = false;
      return this.#claim(false);
    });
  }

  /** Has whoever runs the batch end it; waits for its end when that is this process. */
  async cancel(id: string, waitMs: number): Promise<void> {
    const run = this.#runs.get(id);
    if (!run) {
      this.#tell({ batchId: id, kind: 'cancel' });
      this.wake();
      await this.#claiming;
    }
    const own = this.#runs.get(id);
    if (!own) return;
    own.cancel();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([own.done, limit]);
    clearTimeout(timer);
  }

  /** Resolves when a batch has news, after two seconds, and when the signal is aborted. */
  untilNews(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#listeners.get(id) ?? new Set();
      this.#listeners.set(id, listeners);
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        listeners.delete(end);
        if (listeners.size === 0) this.#listeners.delete(id);
        resolve();
      };
      const timer = setTimeout(end, newsWaitMs);
      listeners.add(end);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#subscription?.close();
    await this.#claiming;
    const runs = [...this.#runs.values()];
    for (const run of runs) run.abandon();
    await Promise.all(runs.map(({ done }) => done));
    for (const timer of this.#newsTimers.values()) clearTimeout(timer);
    try {
      const leases = runs.map(({ batch }) => batch);
      if (leases.length > 0) await releaseLeases(this.#options.sql, leases);
    } catch (err) {
      this.#options.log.warn({ err }, 'batches are free again only when their leases run out');
    }
  }

  async #keep(): Promise<void> {
    const { sql, log, now } = this.#options;
    try {
      const own = [...this.#runs.values()].map(({ batch }) => batch);
      if (own.length > 0) {
        const kept = await renewLeases(sql, own, new Date(now() + leaseMs));
        const byId = new Map(kept.map((lease) => [lease.id, lease]));
        for (const { id, epoch } of own) this.#heed(id, epoch, byId.get(id)?.status);
      }
      this.wake();
    } catch (err) {
      log.warn({ err }, 'the leases of batches could not be prolonged');
    }
  }

  /** What the database says of a batch that this process runs. */
  #heed(id: string, epoch: number, status: string | undefined): void {
    const run = this.#runs.get(id);
    if (run?.batch.epoch !== epoch) return;
    // One that is not ours any more finds it out with its next write.
    if (status === 'cancelling') run.cancel();
  }

  async #claim(takesLeased: boolean): Promise<void> {
    const { sql, log, now } = this.#options;
    const countMax = runsMax - this.#runs.size;
    if (this.#isClosed || countMax <= 0) return;
    try {
      const options = { now: new Date(now()), leaseMs, countMax, takesLeased };
      for (const batch of await claimBatches(sql, options)) this.#launch(batch);
    } catch (err) {
      log.warn({ err }, 'batches wait for the database');
    }
  }

  #launch(batch: Batch): void {
    const { callbacks } = this.#options;
    const { id } = batch;
    // Its lease ran out while this process was held up: the new epoch takes its place.
    this.#runs.get(id)?.abandon();
    const run = new BatchRun(batch, {
      ...this.#options,
      onProgress: (state) => {
        callbacks.noteProgress(state);
        this.#tellProgress(id);
      },
      onEnd: (state) => callbacks.noteEnd(state),
    });
    this.#runs.set(id, run);
    void this.#untilDone(run);
  }

  async #untilDone(run: BatchRun): Promise<void> {
    const { id } = run.batch;
    const end = await run.done;
    this.#options.log.debug({ batchId: id, end }, 'a batch was let go of');
    if (this.#runs.get(id) === run) {
      this.#runs.delete(id);
      this.#options.callbacks.forget(id);
      clearTimeout(this.#newsTimers.get(id));
      this.#newsTimers.delete(id);
      this.#toldAtMs.delete(id);
    }
    if (end === 'ended') this.#tell({ batchId: id, kind: 'progress' });
    if (!this.#isClosed) this.wake();
  }

  /** Five times a second at most. */
  #tellProgress(id: string): void {
    if (this.#newsTimers.has(id)) return;
    const { now } = this.#options;
    const elapsedMs = now() - (this.#toldAtMs.get(id) ?? 0);
    const tell = () => {
      this.#newsTimers.delete(id);
      this.#toldAtMs.set(id, now());
      this.#tell({ batchId: id, kind: 'progress' });
    };
    if (elapsedMs >= newsEveryMs) tell();
    else this.#newsTimers.set(id, setTimeout(tell, newsEveryMs - elapsedMs).unref());
  }

  #tell(news: BatchNews): void {
    this.#options.topic.publish(news).catch((err: unknown) => {
      logLost(this.#options.log, err);
    });
  }

  #receive({ batchId, kind }: BatchNews): void {
    if (kind === 'cancel') this.#runs.get(batchId)?.cancel();
    for (const listener of this.#listeners.get(batchId) ?? []) listener();
  }
}

function logLost(log: Log, err: unknown): void {
  log.debug({ err }, 'news of a batch were lost; whoever waits for them looks by itself');
}
