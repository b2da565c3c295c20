import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AlertSql } from './alert-store.ts';
import type { Mailer } from './email.ts';
import { messageOf } from './message.ts';
import { claimDeliveries, recordOutcome, type Claimed, type Outcome } from './outbox-store.ts';
import type { Sending } from './sending.ts';
import { postToSlack } from './slack.ts';
import type { Webhooks } from './webhooks.ts';

export interface OutboxOptions {
  readonly sql: AlertSql;
  readonly egress: Egress;
  readonly webhooks: Webhooks;
  readonly mailer: Mailer;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longer than any attempt may take. */
const leaseMs = 60_000;
const countMax = 8;
/** Over about two and a half hours. */
const attemptsMax = 12;
const firstDelayMs = 5_000;
const delayMsMax = 60 * 60_000;
const closeMaxMs = 3_000;
/** For so long a message that cannot be read here is left to other processes. */
const aversionMs = 60_000;
/** After so long nobody will have the key. */
const keyWaitMs = 150 * 60_000;

/**
 * Sends the messages that the database holds, each at least once: one that was sent but not written
 * down, because the process died between, is sent again.
 */
export class Outbox implements AsyncDisposable {
  readonly #options: OutboxOptions;
  readonly #stopping = new AbortController();
  /** What cannot be read here, by `seq`, and until when it is left to others. */
  readonly #unreadable = new Map<number, number>();
  #sending: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Sends what is due now, also what became due during a call before; never rejects. */
  deliver(): Promise<void> {
    this.#waiting ??= this.#sending.then(() => {
      this.#waiting = undefined;
      this.#sending = this.#sendAll();
      return this.#sending;
    });
    return this.#waiting;
  }

  /** Gives what is being sent 3 seconds; what is cut off then is sent by the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#stopping.abort(), closeMaxMs);
    this.#isClosed = true;
    await this.#waiting;
    await this.#sending;
    clearTimeout(timer);
  }

  async #sendAll(): Promise<void> {
    const { sql, now, log } = this.#options;
    try {
      while (!this.#isClosed) {
        const nowMs = now();
        const except = this.#leftToOthers(nowMs);
        const claim = { now: new Date(nowMs), leaseMs, countMax, except };
        const claimed = await claimDeliveries(sql, claim);
        if (claimed.length === 0) return;
        await Promise.all(claimed.map((one) => this.#sendOne(one)));
      }
    } catch (error) {
      log.warn({ err: error }, 'the messages of alerts wait for the database');
    }
  }

  async #sendOne(claimed: Claimed): Promise<void> {
    const { sql, now, log } = this.#options;
    const sending = await this.#try(claimed);
    const firstMs = claimed.at.getTime();
    const outcome = outcomeOf(sending, { attempts: claimed.attempts, nowMs: now(), firstMs });
    if (sending.state === 'unreadable') this.#unreadable.set(claimed.seq, now() + aversionMs);
    await recordOutcome(sql, claimed, outcome);
    const { alertId, eventId, attempts } = claimed;
    const facts = { alertId, eventId, attempts, place: claimed.notification.type };
    if (outcome.status === 'delivered') log.info(facts, 'a message of an alert was delivered');
    else log.warn({ ...facts, reason: outcome.error }, 'a message of an alert was not delivered');
  }

  async #try(claimed: Claimed): Promise<Sending> {
    const { egress, webhooks, mailer } = this.#options;
    const { notification, facts, attempts } = claimed;
    // The processes that tried it last did not live to say how it went.
    if (attempts > attemptsMax) return givenUp;
    const message = messageOf(claimed.kind, facts, claimed.at);
    const { signal } = this.#stopping;
    if (notification.type === 'email') {
      const { recipients } = notification;
      return mailer.send({ id: `${claimed.eventId}.${claimed.seq}`, recipients, message, signal });
    }
    try {
      const webhook = await webhooks.reveal(claimed.alertId, notification.webhook);
      const { severity } = facts;
      return await postToSlack(egress, {
        webhook,
        channel: notification.channel,
        severity,
        message,
        signal,
      });
    } catch (error) {
      return this.#keyFailure(error);
    }
  }

  #keyFailure(error: unknown): Sending {
    const { code, message } = Fault.from(error);
    this.#options.log.error({ reason: message }, 'the webhook of an alert cannot be read');
    const reason = 'the stored webhook cannot be read: its key file is missing or another';
    // A key file can be put back, and another replica may have it.
    if (code === 'conflict') return { state: 'unreadable', reason };
    return { state: 'failed', reason, isWorthRetrying: false };
  }

  #leftToOthers(nowMs: number): number[] {
    for (const [seq, untilMs] of this.#unreadable)
      if (untilMs <= nowMs) this.#unreadable.delete(seq);
    return [...this.#unreadable.keys()];
  }
}

const givenUp: Sending = {
  state: 'failed',
  reason: 'the last attempt ended with its process',
  isWorthRetrying: false,
};

/** An attempt: which it is of its message, when it was over, and when there was something to tell. */
interface Attempt {
  readonly attempts: number;
  readonly nowMs: number;
  readonly firstMs: number;
}

/**
 * What to write down; a failure that may pass is tried again, ever later, twelve times in all. What cannot
 * be read here is at once another process's, for as long as twelve attempts take.
 */
export function outcomeOf(sending: Sending, { attempts, nowMs, firstMs }: Attempt): Outcome {
  if (sending.state === 'sent') {
    return { status: 'delivered', at: new Date(nowMs), error: sending.note };
  }
  if (sending.state === 'unreadable') {
    const error = sending.reason;
    if (nowMs - firstMs >= keyWaitMs) return { status: 'failed', error };
    return { status: 'pending', dueAt: new Date(nowMs), error, isUnspent: true };
  }
  const { reason, isWorthRetrying, retryAfterMs = 0 } = sending;
  if (!isWorthRetrying) return { status: 'failed', error: reason };
  if (attempts >= attemptsMax) {
    return { status: 'failed', error: `${reason}; given up after ${attempts} attempts` };
  }
  const backoffMs = Math.min(firstDelayMs * 2 ** (attempts - 1), delayMsMax);
  // Half of it by chance, so that many do not come back in the same moment.
  const delayMs = backoffMs / 2 + (Math.random() * backoffMs) / 2;
  const dueMs = nowMs + Math.max(delayMs, Math.min(retryAfterMs, delayMsMax));
  return { status: 'pending', dueAt: new Date(dueMs), error: reason };
}
