import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { Engine, Execution } from '../engine/execution.ts';
import { allInputs } from '../engine/walk/given-inputs.ts';
import * as store from './firing-store.ts';
import { readTrigger, type TriggerSql } from './trigger-store.ts';
import type { Firing, Trigger } from './trigger.ts';

export interface FiringsOptions {
  readonly sql: TriggerSql;
  readonly engine: Pick<Engine, 'start' | 'find'>;
  readonly log: Log;
  readonly now: () => number;
}

/** What makes a trigger fire. */
export interface Cause {
  /** The due time, the delivery or the event: the same again starts nothing. */
  readonly key: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Of the span that causes it. */
  readonly traceparent?: string;
}

/** After which a firing whose process died is started by another. */
const claimMs = 60_000;
const queuedMax = 100;
const ageMsMax = 24 * 60 * 60_000;
const portion = 50;

/** Starts executions in the name of triggers: each firing is stored first and starts one at most. */
export class Firings {
  readonly #options: FiringsOptions;

  constructor(options: FiringsOptions) {
    this.#options = options;
  }

  /** A new firing of a schedule, and when it is to be due next; undefined when another has it. */
  async fireDue(
    trigger: Trigger,
    next: Date | undefined,
    cause: Cause,
  ): Promise<Firing | undefined> {
    const firing = { ...this.#claim(), key: cause.key, inputs: cause.inputs };
    return store.fireDue(this.#options.sql, trigger, { next, firing });
  }

  /** Undefined when the event has fired it already, or the trigger is gone. */
  async fireEvent(trigger: Trigger, cause: Cause): Promise<Firing | undefined> {
    const stored = await this.#insert(trigger, cause);
    return stored?.isNew ? stored.firing : undefined;
  }

  /**
   * Starts at once, whatever still runs; the same delivery again answers the first one's execution.
   * Throws what the engine refuses.
   */
  async deliver(trigger: Trigger, cause: Cause): Promise<Execution> {
    const { engine, sql } = this.#options;
    const stored = await this.#insert(trigger, cause);
    if (!stored)
      throw new Fault('not_found', 'there is no such hook', { reason: 'hook_not_found' });
    const { firing } = stored;
    const started =
      firing.executionId === undefined ? undefined : await engine.find(firing.executionId);
    if (started) return started;
    try {
      const execution = await this.#startExecution(trigger, cause);
      await store.recordFiring(sql, firing.id, { status: 'started', executionId: execution.id });
      return execution;
    } catch (error) {
      const { code, message } = Fault.from(error);
      // A delivery that is repeated starts it after all; nobody else does.
      await store.recordFiring(sql, firing.id, { status: 'failed', error: `${message} (${code})` });
      throw error;
    }
  }

  /** Writes down a firing of which nothing can come, as its filter or its inputs cannot be worked out. */
  async failAtOnce(trigger: Trigger, key: string, error: string): Promise<void> {
    const firing = { ...this.#claim(), triggerId: trigger.id, key, inputs: {}, error };
    await store.insertFiring(this.#options.sql, firing);
  }

  /** Starts a firing, or has it wait or skipped as its trigger says; never rejects. */
  async begin(trigger: Trigger, firing: Firing): Promise<void> {
    const { sql, log } = this.#options;
    const facts = { triggerId: trigger.id, firingId: firing.id };
    try {
      const outcome = await this.#decide(trigger, firing);
      await store.recordFiring(sql, firing.id, outcome);
      if (outcome.status === 'failed') log.warn({ ...facts, reason: outcome.error }, failed);
    } catch (err) {
      // It is started when its claim has run out.
      log.warn({ err, ...facts }, 'the firing of a trigger waits');
    }
  }

  /** Writes down that nothing came of a firing. */
  async fail({ id }: Firing, error: string): Promise<void> {
    await store.recordFiring(this.#options.sql, id, { status: 'failed', error });
  }

  /** Writes down that a firing was passed over. */
  async skip({ id }: Firing, error: string): Promise<void> {
    await store.recordFiring(this.#options.sql, id, { status: 'skipped', error });
  }

  /** Starts what waited for an execution that has ended by now, and what a dead process left. */
  async pump(): Promise<void> {
    const { sql, now } = this.#options;
    const nowMs = now();
    const until = new Date(nowMs + claimMs);
    const claim = { now: new Date(nowMs), until, countMax: portion };
    for (const firing of await store.claimAbandoned(sql, claim)) await this.#beginAgain(firing);
    for (const firing of await store.listQueued(sql, portion)) {
      if (await this.#isBusy(firing)) continue;
      if (await store.claimQueued(sql, firing.id, until)) await this.#beginAgain(firing);
    }
  }

  async #insert(trigger: Trigger, { key, inputs }: Cause) {
    return store.insertFiring(this.#options.sql, {
      ...this.#claim(),
      triggerId: trigger.id,
      key,
      inputs,
    });
  }

  #claim() {
    const nowMs = this.#options.now();
    return { id: newId('frg'), at: new Date(nowMs), claimedUntil: new Date(nowMs + claimMs) };
  }

  async #beginAgain(firing: Firing): Promise<void> {
    const { sql } = this.#options;
    const trigger = await readTrigger(sql, firing.triggerId);
    if (this.#options.now() - firing.at.getTime() > ageMsMax) {
      return this.fail(firing, 'it could not be started for a day');
    }
    if (trigger?.isEnabled) return this.begin(trigger, firing);
    await this.skip(firing, 'the trigger was disabled');
  }

  async #decide(trigger: Trigger, firing: Firing): Promise<store.FiringOutcome> {
    const { type, settings } = trigger;
    if (type !== 'webhook' && (await this.#isBusy(firing))) {
      if (settings.overlap !== 'queue') {
        return { status: 'skipped', error: 'the execution of the firing before still runs' };
      }
      if (await this.#isQueueFull(firing)) {
        return { status: 'skipped', error: `${queuedMax} firings wait already` };
      }
      return { status: 'queued' };
    }
    try {
      const { key, inputs = {} } = firing;
      const execution = await this.#startExecution(trigger, { key, inputs });
      return { status: 'started', executionId: execution.id };
    } catch (error) {
      const { code, message } = Fault.from(error);
      if (passing.has(code)) throw error;
      return { status: 'failed', error: message };
    }
  }

  async #isBusy(firing: Firing): Promise<boolean> {
    const { sql, engine, now } = this.#options;
    const before = await store.readBefore(sql, firing, new Date(now()));
    if (before.isStarting) return true;
    if (before.executionId === undefined) return false;
    const execution = await engine.find(before.executionId);
    return execution !== undefined && !endings.has(execution.status);
  }

  async #isQueueFull(firing: Firing): Promise<boolean> {
    const { sql, now } = this.#options;
    const { queuedCount } = await store.readBefore(sql, firing, new Date(now()));
    return queuedCount >= queuedMax;
  }

  #startExecution(trigger: Trigger, { key, inputs, traceparent }: Cause): Promise<Execution> {
    const { id, workflowId, ownerId, permissions, type, settings } = trigger;
    return this.#options.engine.start({
      workflowId,
      ownerId,
      permissions,
      inputs,
      // What came in reaches a node only where the trigger's own inputs say so.
      inputUses: allInputs(inputs, settings.inputs === undefined ? 'read' : 'as-is'),
      trigger: type,
      idempotencyKey: `${id}:${key}`,
      ...(traceparent === undefined ? {} : { traceparent }),
    });
  }
}

const failed = 'a trigger could not start its workflow';
const endings: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);
/** What may be better in a moment. */
const passing: ReadonlySet<string> = new Set(['unavailable', 'exhausted', 'deadline', 'internal']);
