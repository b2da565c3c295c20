import type { Log } from '../../kit/log.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { toBatchAnswer } from './answers.ts';
import type { Batch } from './batch.ts';

export interface BatchCallbacksOptions {
  readonly callbacks: Pick<
    Callbacks,
    'tell' | 'supersede' | 'sealUrl' | 'unsealUrl' | 'secretOf' | 'checkUrl'
  >;
  readonly log: Log;
  readonly now: () => number;
  readonly monitorUrlOf: (batchId: string) => string;
}

const everyMs = 1_000;

/** Tells the address of a batch how it comes on, once a second at most, and how it ended. */
export class BatchCallbacks {
  readonly #options: BatchCallbacksOptions;
  readonly #toldAtMs = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #telling = new Map<string, Promise<void>>();

  constructor(options: BatchCallbacksOptions) {
    this.#options = options;
  }

  /** Refuses what is no address, or a private one; else the address, sealed. */
  seal(batchId: string, url: string): string {
    this.#options.callbacks.checkUrl(url, 'progressCallback');
    return this.#options.callbacks.sealUrl(url, contextOf(batchId));
  }

  /** Tells now, or when the second is over. */
  noteProgress(batch: Batch): void {
    const { id, progressCallback } = batch;
    if (progressCallback === undefined) return;
    const elapsedMs = this.#options.now() - (this.#toldAtMs.get(id) ?? 0);
    clearTimeout(this.#timers.get(id));
    if (elapsedMs >= everyMs) this.#tellProgress(batch);
    else {
      const timer = setTimeout(() => this.#tellProgress(batch), everyMs - elapsedMs).unref();
      this.#timers.set(id, timer);
    }
  }

  /** Resolves once the callback is stored; the same end told again changes nothing. */
  async noteEnd(batch: Batch): Promise<void> {
    const { id, progressCallback, resumedAt } = batch;
    if (progressCallback === undefined) return;
    this.forget(id);
    await this.#telling.get(id);
    await this.#options.callbacks.supersede(progressKey(batch));
    await this.#tell(batch, {
      event: 'batch.ended',
      dedupeKey: `${id} ended ${resumedAt.getTime()}`,
      sealed: progressCallback,
    });
  }

  /** This process tells nothing more of a batch. */
  forget(batchId: string): void {
    clearTimeout(this.#timers.get(batchId));
    this.#timers.delete(batchId);
    this.#toldAtMs.delete(batchId);
  }

  #tellProgress(batch: Batch): void {
    const { id, progressCallback } = batch;
    if (progressCallback === undefined) return;
    this.#toldAtMs.set(id, this.#options.now());
    const before = this.#telling.get(id) ?? Promise.resolve();
    const telling: Promise<void> = before
      .then(() =>
        this.#tell(batch, {
          event: 'batch.progress',
          dedupeKey: progressKey(batch),
          sealed: progressCallback,
        }),
      )
      .catch((err: unknown) => {
        this.#options.log.warn({ err, batchId: id }, 'the progress of a batch could not be told');
      })
      .finally(() => {
        if (this.#telling.get(id) === telling) this.#telling.delete(id);
      });
    this.#telling.set(id, telling);
  }

  async #tell(
    batch: Batch,
    told: {
      readonly event: 'batch.progress' | 'batch.ended';
      readonly dedupeKey: string;
      readonly sealed: string;
    },
  ): Promise<void> {
    const { callbacks, monitorUrlOf } = this.#options;
    const { event, dedupeKey, sealed } = told;
    await callbacks.tell({
      subjectId: batch.id,
      event,
      dedupeKey,
      replaces: event === 'batch.progress',
      target: {
        url: callbacks.unsealUrl(sealed, contextOf(batch.id)),
        secret: await callbacks.secretOf(batch.workflowId),
      },
      body: toBatchAnswer(batch, monitorUrlOf(batch.id)),
    });
  }
}

/** One for each time that the batch runs, so that what was told of an earlier one stays as it was. */
function progressKey({ id, resumedAt }: Batch): string {
  return `${id} progress ${resumedAt.getTime()}`;
}

function contextOf(batchId: string): string {
  return `workflow batch ${batchId}`;
}
