import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { parseSchedule } from './cron.ts';
import type { Firings } from './firings.ts';
import { compileMapping } from './mapping.ts';
import { findNextDue, listDue, listWaiting, moveDue, type TriggerSql } from './trigger-store.ts';
import type { Trigger } from './trigger.ts';

export interface SchedulesOptions {
  readonly sql: TriggerSql;
  readonly firings: Firings;
  readonly log: Log;
  readonly now: () => number;
}

const portion = 100;
/** Another replica may have put in what is due sooner. */
const lookMsMax = 5_000;
const marginMs = 20;

/**
 * Fires schedules when they are due, each due time once over all replicas. What was missed while
 * nothing ran is made up for by one firing. Where the clock was ahead and is set back, what waits for
 * the time that it showed is due when it would have been.
 */
export class Schedules implements AsyncDisposable {
  readonly #options: SchedulesOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStarted = false;
  /** By the clock; before the first look it may have been anything. */
  #lookedAtMs = Number.POSITIVE_INFINITY;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    void this.look();
  }

  /** Fires what is due now, and starts what waited; never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { sql, firings, log, now } = this.#options;
    clearTimeout(this.#timer);
    let delayMs = lookMsMax;
    try {
      await this.#heedClock();
      const due = await listDue(sql, new Date(now()), portion);
      for (const trigger of due) await this.#fire(trigger);
      await firings.pump();
      const nextAt = await findNextDue(sql);
      if (nextAt) delayMs = Math.max(0, Math.min(delayMs, nextAt.getTime() - now()));
    } catch (err) {
      log.warn({ err }, 'the schedules wait for the database');
    }
    if (!this.#isStarted) return;
    // Timers may come a millisecond early.
    this.#timer = setTimeout(() => void this.look(), delayMs + marginMs).unref();
  }

  async #heedClock(): Promise<void> {
    const nowMs = this.#options.now();
    if (nowMs < this.#lookedAtMs) await this.#bringForward(new Date(nowMs));
    this.#lookedAtMs = nowMs;
  }

  async #bringForward(now: Date): Promise<void> {
    const { sql } = this.#options;
    let waiting: Trigger[] = [];
    do {
      const after = waiting.at(-1)?.id ?? '';
      waiting = await listWaiting(sql, now, { after, countMax: portion });
      for (const trigger of waiting) {
        const next = nextOf(trigger, now);
        if (next && trigger.nextAt && next < trigger.nextAt) await moveDue(sql, trigger, next);
      }
    } while (waiting.length === portion);
  }

  async #fire(trigger: Trigger): Promise<void> {
    const { firings, now } = this.#options;
    const { nextAt } = trigger;
    if (!nextAt) return;
    const nowAt = new Date(now());
    const key = nextAt.toISOString();
    const { inputs, error } = inputsOf(trigger, { dueAt: key, firedAt: nowAt.toISOString() });
    const firing = await firings.fireDue(trigger, nextOf(trigger, nowAt), { key, inputs });
    if (!firing) return;
    if (error === undefined) await firings.begin(trigger, firing);
    else await firings.fail(firing, error);
  }
}

/** What cannot be rendered must not keep the schedule from going on. */
function inputsOf({ settings }: Trigger, schedule: Readonly<Record<string, string>>) {
  try {
    return { inputs: compileMapping('schedule', settings).inputsOf({ schedule }) };
  } catch (error) {
    return { inputs: {}, error: Fault.from(error).message };
  }
}

/** When a schedule is due after a moment; undefined when it never is. */
export function nextOf({ settings }: Pick<Trigger, 'settings'>, after: Date): Date | undefined {
  const { cron = '', timeZone } = settings;
  try {
    return parseSchedule(cron, timeZone, after).next(after);
  } catch {
    return undefined;
  }
}
