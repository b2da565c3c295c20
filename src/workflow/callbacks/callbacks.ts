import { createHash } from 'node:crypto';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { Callbacks as CallbackSettings, Execution } from '../engine/execution.ts';
import type { CallbackEvent, CallbackTarget, Delivery } from './callback.ts';
import {
  deleteCallbacksBefore,
  insertCallback,
  listDeliveries,
  supersedeCallback,
  type CallbackSql,
} from './callback-store.ts';
import { Outbox, targetContext } from './outbox.ts';

export interface CallbacksOptions {
  readonly sql: CallbackSql;
  readonly egress: Pick<Egress, 'checkUrl' | 'fetch'>;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
  readonly log: Log;
  /** Of an execution that is told of without its callbacks; undefined when it has none. */
  readonly callbacksOf: (executionId: string) => Promise<CallbackSettings | undefined>;
  /** The status of an execution, as its own route answers it. */
  readonly statusOf: (execution: Execution) => Promise<object>;
  /** What signs when the caller named no secret. */
  readonly secretOf: (workflowId: string) => Promise<string>;
  /** Milliseconds since the epoch; the process's clock when absent. */
  readonly now?: () => number;
  /** Milliseconds that one attempt may take. */
  readonly timeoutMs?: number;
}

/** What is told to an address that somebody gave. */
export interface Telling {
  readonly subjectId: string;
  readonly event: CallbackEvent;
  readonly dedupeKey: string;
  readonly target: CallbackTarget;
  readonly body: object;
  /** Takes the place of what waits with the same key. */
  readonly replaces?: boolean;
}

const urlLengthMax = 2_048;
const keepMs = 30 * 24 * 60 * 60_000;
const sweepEveryMs = 60 * 60_000;

/** Tells callers of executions and batches how these ended, at addresses that the callers gave. */
export class Callbacks implements AsyncDisposable {
  readonly #options: CallbacksOptions;
  readonly #now: () => number;
  readonly #outbox: Outbox;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: CallbacksOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#outbox = new Outbox({ ...options, now: this.#now });
  }

  /** From now on sends what is due, also what an earlier process left. */
  start(): void {
    this.#outbox.start();
    this.#sweeper ??= setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  /**
   * Refuses addresses before anything is started: `invalid` for what is none, `forbidden`
   * (`egress_blocked`) for a private one. Names are judged again when they are dialled.
   */
  check(settings: CallbackSettings | undefined): void {
    this.checkUrl(settings?.onComplete, 'onComplete');
    this.checkUrl(settings?.onError, 'onError');
  }

  /** The same for one address; `field` names it in the refusal. */
  checkUrl(url: string | undefined, field: string): void {
    if (url === undefined) return;
    try {
      if (url.length > urlLengthMax) throw new Fault('invalid', 'the address is too long');
      this.#options.egress.checkUrl(url);
    } catch (error) {
      const { code, message, reason = 'invalid_callback' } = Fault.from(error);
      throw new Fault(code, `${field}: ${message}`, { reason, detail: { param: field } });
    }
  }

  /** Stores the callback of an execution that ended; safe to be told of the same end again. */
  async noteEnded(execution: Execution): Promise<void> {
    const { callbacksOf, statusOf, secretOf } = this.#options;
    const { id, workflowId, status, completedAtMs } = execution;
    if (status !== 'completed' && status !== 'failed' && status !== 'cancelled') return;
    const settings = execution.callbacks ?? (await callbacksOf(id));
    const url = status === 'completed' ? settings?.onComplete : settings?.onError;
    if (url === undefined) return;
    const [body, secret] = await Promise.all([
      statusOf(execution),
      settings?.secret ?? secretOf(workflowId),
    ]);
    const event = `execution.${status}` as const;
    const dedupeKey = `${id} ${event} ${completedAtMs ?? 0}`;
    await this.tell({ subjectId: id, event, dedupeKey, target: { url, secret }, body });
  }

  /** Stores a callback and begins to send it. */
  async tell(telling: Telling): Promise<void> {
    const { sql, sealer } = this.#options;
    const { subjectId, event, dedupeKey, target, body, replaces = false } = telling;
    const sentTo = new URL(target.url);
    const bodyText = JSON.stringify(body);
    // Of one key all have one target, so that a replaced body still fits the seal.
    const id = `clb_${hashOf(dedupeKey).slice(0, 32)}`;
    const sealed = sealer.seal(Buffer.from(JSON.stringify(target)), targetContext(id));
    const callback = {
      id,
      subjectId,
      event,
      dedupeKey,
      origin: sentTo.origin,
      target: sealed,
      addressHash: hashOf(sentTo.href),
      body: bodyText,
    };
    await insertCallback(sql, callback, { now: new Date(this.#now()), replaces });
    void this.#outbox.look();
  }

  /** What waits with this key is not sent any more. */
  async supersede(dedupeKey: string): Promise<void> {
    await supersedeCallback(this.#options.sql, dedupeKey);
  }

  /** Seals the address of a later callback. */
  sealUrl(url: string, context: string): string {
    return this.#options.sealer.seal(Buffer.from(url), context);
  }

  unsealUrl(sealed: string, context: string): string {
    return this.#options.sealer.unseal(sealed, context).toString();
  }

  secretOf(workflowId: string): Promise<string> {
    return this.#options.secretOf(workflowId);
  }

  deliveriesOf(subjectId: string): Promise<Delivery[]> {
    return listDeliveries(this.#options.sql, subjectId);
  }

  /** Resolves once everything that is due has been tried; never rejects. */
  settle(): Promise<void> {
    return this.#outbox.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#outbox[Symbol.asyncDispose]();
  }

  async #sweep(): Promise<void> {
    const { sql, log } = this.#options;
    try {
      await deleteCallbacksBefore(sql, new Date(this.#now() - keepMs));
    } catch (error) {
      log.warn({ err: error }, 'old callbacks could not be deleted');
    }
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
