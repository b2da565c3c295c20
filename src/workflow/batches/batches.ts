import type { Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { heldForComponents, requireUnattended } from '../components/component-permissions.ts';
import { hasSecrets } from '../components/secret-fields.ts';
import type { Engine, Execution, PlanSource } from '../engine/execution.ts';
import { requireNumbers } from '../engine/requests.ts';
import { BatchCallbacks, type BatchCallbacksOptions } from './batch-callbacks.ts';
import * as store from './batch-store.ts';
import type { Batch, BatchItem, BatchNews, FailureMode, ItemStatus } from './batch.ts';
import { BatchRuns } from './batch-runs.ts';
import { writeItemInputs } from './item-inputs.ts';
import { completeItem, reopenBatch, requestCancel } from './run-store.ts';

export interface BatchesOptions {
  readonly sql: store.BatchSql;
  readonly engine: Pick<Engine, 'start' | 'wait' | 'cancel' | 'resume'>;
  readonly plans: Pick<PlanSource, 'load'>;
  readonly callbacks: BatchCallbacksOptions['callbacks'];
  readonly topic: Topic<BatchNews>;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
  readonly log: Log;
  /** Where a batch's stream is. */
  readonly monitorUrlOf: (batchId: string) => string;
  /** No other process runs batches on this database, as on PGlite. */
  readonly isAlone: boolean;
  /** Milliseconds since the epoch; the process's clock when absent. */
  readonly now?: () => number;
}

/** A batch as a caller asks for it. */
export interface BatchRequest {
  readonly workflowId: string;
  readonly ownerId: string;
  /** What the owner holds; nothing when absent. */
  readonly permissions?: readonly string[];
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
  readonly concurrency: number;
  readonly failureMode: FailureMode;
  readonly progressCallback?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Who asks; an administrator reaches everybody's. */
export interface Asker {
  readonly subject: string;
  readonly isAdmin: boolean;
}

/** Of one owner. */
const openMax = 100;
const cancelWaitMs = 3_000;

/** The batches, shared by all replicas on one database. */
export class Batches implements AsyncDisposable {
  readonly #options: BatchesOptions;
  readonly #now: () => number;
  readonly #callbacks: BatchCallbacks;
  readonly #runs: BatchRuns;

  constructor(options: BatchesOptions) {
    const { log, monitorUrlOf, callbacks, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#callbacks = new BatchCallbacks({ callbacks, log, now, monitorUrlOf });
    this.#runs = new BatchRuns({ ...options, now, callbacks: this.#callbacks });
  }

  /** Takes up what nobody runs, now and from now on. */
  start(): Promise<void> {
    return this.#runs.start();
  }

  /** To be told of executions that ended: an item's may have been resumed by itself. */
  async noteEnded({ id: executionId, status, batch }: Execution): Promise<void> {
    if (!batch || status !== 'completed') return;
    const item = { batchId: batch.id, index: batch.index, executionId };
    await completeItem(this.#options.sql, item, new Date(this.#now()));
  }

  /** Stores the batch; it runs on by itself. The same key again answers the first one. */
  async create(request: BatchRequest): Promise<Batch> {
    const { sql, plans, sealer } = this.#options;
    const { workflowId, ownerId, idempotencyKey, progressCallback } = request;
    for (const inputs of request.inputs) requireNumbers(inputs);
    const id = newId('bat');
    const sealed =
      progressCallback === undefined ? undefined : this.#callbacks.seal(id, progressCallback);
    const { version, plan } = await plans.load(workflowId);
    requireUnattended(plan, request.permissions);
    const isSecret = hasSecrets(plan, 'input');
    const batch = await store.insertBatch(sql, {
      id,
      workflowId,
      version,
      ownerId,
      permissions: heldForComponents(request.permissions),
      idempotencyKey,
      concurrency: request.concurrency,
      failureMode: request.failureMode,
      progressCallback: sealed,
      inputs: request.inputs.map((inputs) => writeItemInputs(inputs, sealer, isSecret)),
      now: new Date(this.#now()),
      openMax,
    });
    if (batch === 'full') {
      const message = `${openMax} of your batches are open: wait for one to end`;
      throw new Fault('exhausted', message, { reason: 'too_many_batches', retryAfter: 30 });
    }
    if (batch === 'exists') {
      const first = await this.#readByKey(ownerId, idempotencyKey ?? '');
      requireSameStart(first, request);
      return first;
    }
    this.#runs.wake();
    return batch;
  }

  /** Throws `not_found` for what is not there, or is not the asker's. */
  async read(id: string, asker: Asker): Promise<Batch> {
    const batch = await store.readBatch(this.#options.sql, id);
    if (batch && (asker.isAdmin || batch.ownerId === asker.subject)) return batch;
    throw new Fault('not_found', 'there is no such batch', { reason: 'batch_not_found' });
  }

  /** The asker's; an administrator's are everybody's. */
  list(
    filter: Omit<store.BatchFilter, 'ownerId'>,
    asker: Asker,
    page: store.Page,
  ): Promise<{ readonly batches: Batch[]; readonly total: number }> {
    const ownerId = asker.isAdmin ? undefined : asker.subject;
    return store.listBatches(this.#options.sql, { ...filter, ownerId }, page);
  }

  items(
    batchId: string,
    status: ItemStatus | undefined,
    page: store.Page,
  ): Promise<{ readonly items: BatchItem[]; readonly total: number }> {
    return store.listItems(this.#options.sql, { batchId, status }, page);
  }

  /**
   * Cancels what runs and leaves the rest; answers the batch once it has ended, or as it is after a
   * moment. Throws `conflict` (`already_ended`).
   */
  async cancel(id: string, asker: Asker): Promise<Batch> {
    await this.read(id, asker);
    if (!(await requestCancel(this.#options.sql, id))) {
      throw new Fault('conflict', 'the batch has ended', { reason: 'already_ended' });
    }
    await this.#runs.cancel(id, cancelWaitMs);
    return this.read(id, asker);
  }

  /** Runs again what did not complete. Throws `conflict` (`not_resumable`). */
  async resume(id: string, asker: Asker): Promise<Batch> {
    await this.read(id, asker);
    const batch = await reopenBatch(this.#options.sql, id, new Date(this.#now()));
    if (!batch) {
      const message = 'only an ended batch with items that did not complete goes on';
      throw new Fault('conflict', message, { reason: 'not_resumable' });
    }
    this.#runs.wake();
    return batch;
  }

  /** How the batch stands, and the ends of items behind a seq that it counts. */
  async eventsAfter(
    id: string,
    after: number,
    limit: number,
  ): Promise<{ readonly batch: Batch | undefined; readonly ends: readonly BatchItem[] }> {
    const batch = await store.readBatch(this.#options.sql, id);
    const upTo = batch?.lastSeq ?? 0;
    const ends = await store.listEnds(this.#options.sql, id, { after, upTo, limit });
    return { batch, ends };
  }

  /** Resolves when there may be news of a batch. */
  untilNews(id: string, signal: AbortSignal): Promise<void> {
    return this.#runs.untilNews(id, signal);
  }

  /** Batches that this process runs now. */
  get runningCount(): number {
    return this.#runs.count;
  }

  /** Lets go of its batches; other replicas, or the next start, go on with them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runs[Symbol.asyncDispose]();
  }

  async #readByKey(ownerId: string, key: string): Promise<Batch> {
    const batch = await store.readBatchByKey(this.#options.sql, ownerId, key);
    if (batch) return batch;
    throw new Fault('conflict', 'the batch of this key is just being made', {
      reason: 'idempotency_conflict',
    });
  }
}

/** The inputs of a batch may be sealed, and are many: their number tells most mistakes. */
function requireSameStart(first: Batch, { workflowId, inputs }: BatchRequest): void {
  if (first.workflowId === workflowId && first.total === inputs.length) return;
  throw new Fault('conflict', `the idempotency key started ${first.id} with other items`, {
    reason: 'idempotency_key_reused',
    detail: { batchId: first.id },
  });
}
