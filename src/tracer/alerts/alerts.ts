import type { Database } from '../../kit/database/database.ts';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { AlertConfig } from './alert-settings.ts';
import * as store from './alert-store.ts';
import type { Alert, AlertEvent, Notification, Severity } from './alert.ts';
import { windowSeconds, type AlertCondition } from './condition.ts';
import { runDry, type DryRun, type DryRunRange } from './dry-run.ts';
import { openMailer } from './email.ts';
import { Evaluation } from './evaluation.ts';
import { deleteEventsBefore, listEvents } from './event-store.ts';
import type { AlertMetrics } from './metric-source.ts';
import { Outbox } from './outbox.ts';
import { Webhooks } from './webhooks.ts';

export interface AlertsOptions {
  readonly sql: Pick<Database, 'query'>;
  readonly metrics: AlertMetrics;
  readonly egress: Egress;
  readonly config: AlertConfig;
  /** The suite's data folder. */
  readonly dataFolder: string;
  readonly log: Log;
  /** Milliseconds since the epoch; the process's clock when absent. */
  readonly now?: () => number;
}

/** An alert as a caller asks for it. */
export interface AlertRequest {
  readonly name: string;
  readonly condition: AlertCondition;
  readonly notifications: readonly Notification[];
  readonly severity: Severity;
  readonly isEnabled: boolean;
}

/** Milliseconds since the epoch; the last 24 hours, but for what is given. */
export interface DryRunRequest extends Partial<DryRunRange> {
  /** In place of `fromMs`. */
  readonly lastMs?: number;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

const intervalMs = 10_000;
/** Less than the interval, which no timer keeps exactly. */
const everyMs = 8_000;
const dayMs = 24 * 60 * 60_000;
const sweepEveryMs = 60 * 60_000;
const historyMs = 30 * dayMs;
const dryRunMsMax = 7 * dayMs;
const alertsMax = 200;
const changeTriesMax = 3;

/** The alerts, shared by all replicas on one database. */
export class Alerts implements AsyncDisposable {
  readonly #options: AlertsOptions;
  readonly #now: () => number;
  readonly #webhooks: Webhooks;
  readonly #evaluation: Evaluation;
  readonly #outbox: Outbox;
  #timer: NodeJS.Timeout | undefined;
  #evaluating: Promise<void> | undefined;
  #sweptAtMs = 0;

  /** Does nothing until it is started; throws `invalid` for a mail server that is none. */
  constructor(options: AlertsOptions) {
    const { sql, egress, config, log, metrics, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#webhooks = new Webhooks(options);
    this.#evaluation = new Evaluation({ sql, metrics, log, now, everyMs });
    const mailer = openMailer(config, log);
    this.#outbox = new Outbox({ sql, egress, webhooks: this.#webhooks, mailer, log, now });
  }

  /** From now on evaluates every 10 seconds and sends what is due, also what was left undelivered. */
  start(): void {
    this.#timer ??= setInterval(() => void this.evaluate(), intervalMs).unref();
    void this.evaluate();
  }

  /** Evaluates what is due and begins to send what came of it; never rejects. */
  evaluate(): Promise<void> {
    this.#evaluating ??= this.#evaluateOnce().finally(() => {
      this.#evaluating = undefined;
    });
    return this.#evaluating;
  }

  /** Resolves once whatever is due has been tried; never rejects. */
  deliver(): Promise<void> {
    return this.#outbox.deliver();
  }

  /** Throws `invalid`, `forbidden` for an address that may not be called, `conflict` at 200 alerts. */
  async create(request: AlertRequest, createdBy: string): Promise<Alert> {
    windowSeconds(request.condition.timeWindow);
    const id = newId('alr');
    const notifications = await this.#webhooks.seal(id, request.notifications);
    const createdAt = new Date(this.#now());
    const row = { ...request, notifications, id, createdBy, createdAt };
    const alert = await store.insertAlert(this.#options.sql, row, alertsMax);
    if (alert) return alert;
    const message = `there are ${alertsMax} alerts already: delete one first`;
    throw new Fault('conflict', message, { reason: 'too_many_alerts' });
  }

  list(page: Page): Promise<{ readonly alerts: Alert[]; readonly total: number }> {
    return store.listAlerts(this.#options.sql, page);
  }

  /** Throws `not_found`. */
  async read(id: string): Promise<Alert> {
    const alert = await store.readAlert(this.#options.sql, id);
    if (!alert)
      throw new Fault('not_found', 'there is no such alert', { reason: 'alert_not_found' });
    return alert;
  }

  /**
   * Changes what is given. A paused alert fires no more, and what waits to be sent of it is not sent;
   * when it goes on it is evaluated anew. Throws as `create` and `read` do.
   */
  async change(id: string, changes: Partial<AlertRequest>): Promise<Alert> {
    if (changes.condition) windowSeconds(changes.condition.timeWindow);
    for (let tries = 0; tries < changeTriesMax; tries += 1) {
      const changed = await this.#tryChange(await this.read(id), changes);
      if (changed) return changed;
    }
    const message = 'others change the alert at the same time: try again';
    throw new Fault('conflict', message, { reason: 'alert_changed' });
  }

  /** With its history and what waits to be sent; throws `not_found`. */
  async delete(id: string): Promise<void> {
    if (await store.deleteAlert(this.#options.sql, id)) return;
    throw new Fault('not_found', 'there is no such alert', { reason: 'alert_not_found' });
  }

  /** What became of an alert in the last 30 days, the newest first; throws `not_found`. */
  async history(
    id: string,
    page: Page,
  ): Promise<{ readonly events: AlertEvent[]; readonly total: number }> {
    await this.read(id);
    return listEvents(this.#options.sql, id, page);
  }

  /** When such an alert would have fired; throws `invalid` for a range that is not within 7 days. */
  async dryRun(condition: AlertCondition, range: DryRunRequest): Promise<DryRun> {
    const windowMs = windowSeconds(condition.timeWindow) * 1_000;
    const nowMs = this.#now();
    const toMs = Math.min(range.toMs ?? nowMs, nowMs);
    const fromMs = range.fromMs ?? toMs - (range.lastMs ?? dayMs);
    if (fromMs >= toMs) throw badRange('`from` must lie before `to`, and both in the past');
    // A minute is lost on the way of the request.
    if (fromMs < nowMs - dryRunMsMax - 60_000) {
      throw badRange('`from` must lie within the last 7 days: minutes are kept no longer');
    }
    // Of a window that reaches further back a part is not there any more.
    const wholeFromMs = nowMs - dryRunMsMax + 60_000 + windowMs;
    const whole = { fromMs: Math.max(fromMs, wholeFromMs), toMs };
    return runDry(this.#options.metrics, condition, whole);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#evaluating;
    await this.#outbox[Symbol.asyncDispose]();
  }

  async #evaluateOnce(): Promise<void> {
    await this.#evaluation.run();
    void this.#outbox.deliver();
    await this.#sweep();
  }

  async #tryChange(before: Alert, changes: Partial<AlertRequest>): Promise<Alert | undefined> {
    const { id, revision } = before;
    const { notifications, ...others } = changes;
    const sealed = notifications
      ? await this.#webhooks.seal(id, notifications, before.notifications)
      : before.notifications;
    return store.updateAlert(this.#options.sql, {
      ...before,
      ...others,
      notifications: sealed,
      id,
      revision,
      eventId: newId('ale'),
      at: new Date(this.#now()),
    });
  }

  async #sweep(): Promise<void> {
    const { sql, log } = this.#options;
    const nowMs = this.#now();
    if (nowMs - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = nowMs;
    try {
      await deleteEventsBefore(sql, new Date(nowMs - historyMs));
    } catch (error) {
      log.warn({ err: error }, 'the old history of alerts could not be deleted');
    }
  }
}

function badRange(message: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param: 'from' } });
}
