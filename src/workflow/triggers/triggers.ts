import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import { newId, newSecret } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { heldForComponents, requireUnattended } from '../components/component-permissions.ts';
import type { Engine, Execution, PlanSource } from '../engine/execution.ts';
import { EventListener } from './event-listener.ts';
import { deleteFiringsBefore, listFirings } from './firing-store.ts';
import { Firings } from './firings.ts';
import { deliveryKeyOf, sourceOf, verifyDelivery, type Delivery } from './hooks.ts';
import { compileMapping } from './mapping.ts';
import { nextOf, Schedules } from './schedules.ts';
import { permissionsAfter, type TriggerChange, type TriggerRequest } from './requests.ts';
import { checkSettings, requireSecret, settingsOf, withoutAbsent } from './settings.ts';
import * as store from './trigger-store.ts';
import { isOpenHook, triggerTopic } from './trigger.ts';
import type { Firing, Trigger, TriggerNews } from './trigger.ts';

export interface TriggersOptions {
  readonly sql: store.TriggerSql;
  readonly engine: Pick<Engine, 'start' | 'find' | 'wait'>;
  readonly plans: Pick<PlanSource, 'load'>;
  readonly sealer: Pick<Sealer, 'seal' | 'unseal'>;
  readonly bus: Pick<Bus, 'topic'>;
  readonly log: Log;
  /** Milliseconds since the epoch; the process's clock when absent. */
  readonly now?: () => number;
}

/** What a delivery came to. */
export type Delivered =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'started'; readonly execution: Execution };

type Page = Parameters<typeof store.listTriggers>[2];

const countMax = 50;
const changeTriesMax = 3;
/** Of one hook, on one replica. */
const hookRate = { perMinute: 120, burst: 120 };
const historyMs = 30 * 24 * 60 * 60_000;
const sweepEveryMs = 60 * 60_000;

/** What starts workflows by itself: schedules, webhooks and events of the suite. */
export class Triggers implements AsyncDisposable {
  readonly #options: TriggersOptions;
  readonly #now: () => number;
  readonly #firings: Firings;
  readonly #schedules: Schedules;
  readonly #events: EventListener;
  readonly #topic: Topic<TriggerNews>;
  readonly #limiter = new RateLimiter(hookRate);
  #subscription: Subscription | undefined;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: TriggersOptions) {
    const { sql, engine, log, bus, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#firings = new Firings({ sql, engine, log, now });
    this.#schedules = new Schedules({ sql, firings: this.#firings, log, now });
    this.#events = new EventListener({ sql, bus, firings: this.#firings, log });
    this.#topic = bus.topic<TriggerNews>(triggerTopic, { retainSeconds: 60 });
  }

  /** From now on schedules fire and events are heard. */
  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(() => {
      void this.#events.refresh();
      void this.#schedules.look();
    });
    await this.#events.start();
    this.#schedules.start();
    this.#sweeper = setInterval(() => void this.#sweep(), sweepEveryMs).unref();
  }

  /** The trigger, with its secret this once when one was made. */
  async create(
    request: TriggerRequest,
  ): Promise<{ readonly trigger: Trigger; readonly secret: string | undefined }> {
    const { sql } = this.#options;
    const { type, workflowId, ownerId, name, isEnabled, permissions } = request;
    const createdAt = new Date(this.#now());
    const settings = settingsOf(type, request);
    checkSettings(type, settings, { asked: request, permissions, now: createdAt });
    await this.#requireComponents(workflowId, permissions);
    const id = newId('trg');
    const isSecret = type === 'webhook' && settings.verification === 'secret';
    const secret = isSecret ? (request.secret ?? newSecret()) : undefined;
    const trigger = await store.insertTrigger(
      sql,
      {
        id,
        workflowId,
        ownerId,
        permissions: heldForComponents(permissions),
        type,
        name,
        isEnabled,
        settings,
        secret: secret === undefined ? undefined : this.#seal(id, secret),
        revision: 1,
        nextAt: this.#nextAt(type, settings, isEnabled),
        firedCount: 0,
        firedAt: undefined,
        createdAt,
        updatedAt: createdAt,
      },
      countMax,
    );
    if (!trigger) {
      const message = `a workflow has at most ${countMax} triggers`;
      throw new Fault('conflict', message, { reason: 'too_many_triggers' });
    }
    this.#tell(id);
    return { trigger, secret: request.secret === undefined ? secret : undefined };
  }

  list(
    filter: store.TriggerFilter,
    page: Page,
  ): Promise<{ readonly triggers: Trigger[]; readonly total: number }> {
    return store.listTriggers(this.#options.sql, filter, page);
  }

  /** Throws `not_found`; also for a trigger of another workflow, or one that `seenBy` may not see. */
  async read(workflowId: string, id: string, seenBy?: string): Promise<Trigger> {
    const trigger = await store.readTrigger(this.#options.sql, id);
    const isShown =
      trigger && (seenBy === undefined || trigger.ownerId === seenBy || !isOpenHook(trigger));
    if (isShown && trigger.workflowId === workflowId) return trigger;
    throw new Fault('not_found', 'there is no such trigger', { reason: 'trigger_not_found' });
  }

  /** Changes what is given. Throws as `create` and `read` do. */
  async change(workflowId: string, id: string, change: TriggerChange): Promise<Trigger> {
    for (let tries = 0; tries < changeTriesMax; tries += 1) {
      const changed = await this.#tryChange(await this.read(workflowId, id), change);
      if (!changed) continue;
      this.#tell(id);
      return changed;
    }
    const message = 'others change the trigger at the same time: try again';
    throw new Fault('conflict', message, { reason: 'trigger_changed' });
  }

  /** With its history. */
  async delete(workflowId: string, id: string): Promise<void> {
    await this.read(workflowId, id);
    await store.deleteTrigger(this.#options.sql, id);
    this.#tell(id);
  }

  /** For a workflow that is gone: nothing starts it any more. */
  async disableOf(workflowId: string): Promise<void> {
    await store.disableTriggers(this.#options.sql, workflowId, new Date(this.#now()));
    this.#tell(workflowId);
  }

  firings(id: string, page: Page): Promise<{ readonly firings: Firing[]; readonly total: number }> {
    return listFirings(this.#options.sql, id, page);
  }

  /**
   * Starts the workflow of a webhook. Throws `not_found` (`hook_not_found`), `unauthenticated`,
   * `exhausted`, `conflict` (`trigger_disabled`), `invalid`, and what the engine refuses.
   */
  async deliver(id: string, delivery: Delivery, traceparent: string): Promise<Delivered> {
    const trigger = await store.readTrigger(this.#options.sql, id);
    if (trigger?.type !== 'webhook') {
      throw new Fault('not_found', 'there is no such hook', { reason: 'hook_not_found' });
    }
    this.#admit(trigger, delivery);
    const source = sourceOf(delivery);
    const key = deliveryKeyOf(delivery) ?? newId('dlv');
    const inputs = await this.#map(trigger, source, key);
    if (!inputs) return { kind: 'ignored' };
    const execution = await this.#firings.deliver(trigger, { key, inputs, traceparent });
    return { kind: 'started', execution };
  }

  /** The execution when it has ended, or as it is when the time is over. */
  wait(executionId: string, timeoutMs: number, signal: AbortSignal): Promise<Execution> {
    return this.#options.engine.wait(executionId, { timeoutMs, signal });
  }

  /** To be told of executions that ended, so that what waits for them starts at once. */
  async noteEnded({ trigger }: Execution): Promise<void> {
    if (trigger === 'schedule' || trigger === 'event') await this.#schedules.look();
  }

  /** Resolves once what is due has been started and what was heard has been handled. */
  async settle(): Promise<void> {
    await this.#events.refresh();
    await this.#events.settle();
    await this.#schedules.look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#subscription?.close();
    await this.#events[Symbol.asyncDispose]();
    await this.#schedules[Symbol.asyncDispose]();
  }

  /** The inputs that a delivery makes; undefined where the filter keeps it out. What fails is a firing too. */
  async #map(trigger: Trigger, source: ReturnType<typeof sourceOf>, key: string) {
    try {
      const mapping = compileMapping('webhook', trigger.settings);
      return mapping.isWanted(source) ? mapping.inputsOf(source) : undefined;
    } catch (error) {
      const { code, message } = Fault.from(error);
      await this.#firings.failAtOnce(trigger, key, `${message} (${code})`);
      throw error;
    }
  }

  #admit(trigger: Trigger, delivery: Delivery): void {
    const { id, settings, secret, isEnabled } = trigger;
    const { method = 'POST', verification } = settings;
    const nowMs = this.#now();
    if (verification !== 'none') {
      verifyDelivery(delivery, { secret: this.#unseal(id, secret ?? ''), nowMs });
    }
    if (delivery.method !== method) {
      const message = `this hook takes ${method}`;
      throw new Fault('invalid', message, { status: 405, reason: 'method_not_allowed' });
    }
    if (!isEnabled) {
      throw new Fault('conflict', 'this hook is disabled', { reason: 'trigger_disabled' });
    }
    const { isAllowed, retryAfter } = this.#limiter.take(id, nowMs);
    if (isAllowed) return;
    const message = `this hook takes ${hookRate.perMinute} deliveries a minute`;
    throw new Fault('exhausted', message, { reason: 'rate_limited', retryAfter });
  }

  async #tryChange(before: Trigger, change: TriggerChange): Promise<Trigger | undefined> {
    const { id, type } = before;
    const now = new Date(this.#now());
    const settings = settingsOf(type, { ...before.settings, ...withoutAbsent(change) });
    checkSettings(type, settings, { asked: change, permissions: change.permissions, now });
    const isEnabled = change.isEnabled ?? before.isEnabled;
    if (type === 'webhook' && settings.verification === 'secret' && !before.secret) {
      requireSecret(change.secret);
    }
    // Whoever stops it needs nothing for that.
    if (isEnabled) await this.#requireComponents(before.workflowId, change.permissions);
    return store.updateTrigger(this.#options.sql, {
      ...before,
      permissions: permissionsAfter(before, change),
      name: change.name ?? before.name,
      isEnabled,
      settings,
      secret: change.secret === undefined ? before.secret : this.#seal(id, change.secret),
      nextAt: this.#nextAt(type, settings, isEnabled),
      updatedAt: now,
    });
  }

  async #requireComponents(workflowId: string, permissions: readonly string[]): Promise<void> {
    requireUnattended((await this.#options.plans.load(workflowId)).plan, permissions);
  }

  #nextAt(type: Trigger['type'], settings: Trigger['settings'], isEnabled: boolean) {
    return type === 'schedule' && isEnabled
      ? nextOf({ settings }, new Date(this.#now()))
      : undefined;
  }

  #seal(id: string, secret: string): string {
    return this.#options.sealer.seal(Buffer.from(secret), contextOf(id));
  }

  #unseal(id: string, sealed: string): string {
    return this.#options.sealer.unseal(sealed, contextOf(id)).toString();
  }

  #tell(triggerId: string): void {
    this.#topic.publish({ triggerId }).catch((err: unknown) => {
      this.#options.log.debug({ err, triggerId }, 'other replicas learn of a trigger later');
    });
  }

  async #sweep(): Promise<void> {
    const { sql, log } = this.#options;
    try {
      await deleteFiringsBefore(sql, new Date(this.#now() - historyMs));
    } catch (err) {
      log.warn({ err }, 'the old history of triggers could not be deleted');
    }
  }
}

function contextOf(id: string): string {
  return `workflow trigger ${id}`;
}
