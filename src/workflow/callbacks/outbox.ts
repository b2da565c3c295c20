import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';
import type { CallbackTarget } from './callback.ts';
import {
  claimCallbacks,
  nextDueAt,
  recordDelivery,
  type CallbackSql,
  type ClaimedCallback,
  type DeliveryOutcome,
} from './callback-store.ts';
import { sign, signatureHeader } from './signature.ts';

export interface OutboxOptions {
  readonly sql: CallbackSql;
  readonly egress: Pick<Egress, 'fetch'>;
  readonly sealer: Pick<Sealer, 'unseal'>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that one attempt may take; 10,000 unless told. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** Longer than any attempt may take. */
const leaseMs = 60_000;
const countMax = 16;
const attemptsMax = 8;
/** Three times longer after each attempt: the last comes about an hour after the first. */
const firstDelayMs = 3_300;
const delayFactor = 3;
const delayMsMax = 60 * 60_000;
const answerBytesMax = 64 * 1024;
const closeMaxMs = 3_000;
/** Another replica may have put in what is due. */
const lookMsMax = 5_000;

/** What a target was sealed for. */
export function targetContext(callbackId: string): string {
  return `workflow callback ${callbackId}`;
}

/**
 * Sends the callbacks that the database holds, each at least once: one that was sent but not written
 * down, because the process died between, is sent again with the same `X-Ennead-Delivery`.
 */
export class Outbox implements AsyncDisposable {
  readonly #options: OutboxOptions;
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #looking: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** From now on sends what is due, also what an earlier process left. */
  start(): void {
    this.#isStarted = true;
    void this.look();
  }

  /** Begins to send what is due now, also what became due during a look before; never rejects. */
  look(): Promise<void> {
    this.#waiting ??= this.#looking.then(() => {
      this.#waiting = undefined;
      this.#looking = this.#claim();
      return this.#looking;
    });
    return this.#waiting;
  }

  /** Resolves once everything that is due has been tried; never rejects. */
  async settle(): Promise<void> {
    await this.look();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    await this.#looking;
  }

  /** Gives what is being sent 3 seconds; what is cut off then is sent by the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#stopping.abort(), closeMaxMs);
    await this.#waiting;
    await this.#looking;
    await Promise.all(this.#inFlight);
    clearTimeout(timer);
  }

  async #claim(): Promise<void> {
    const { sql, now, log } = this.#options;
    clearTimeout(this.#timer);
    let delayMs = lookMsMax;
    try {
      if (this.#isClosed) return;
      const room = countMax - this.#inFlight.size;
      const claimed =
        room > 0
          ? await claimCallbacks(sql, { now: new Date(now()), leaseMs, countMax: room })
          : [];
      for (const one of claimed) this.#launch(one);
      const dueAt = claimed.length === 0 ? await nextDueAt(sql) : undefined;
      // What is due but not claimed waits for another to the same address: its end looks again.
      if (dueAt && dueAt.getTime() > now()) delayMs = Math.min(delayMs, dueAt.getTime() - now());
    } catch (error) {
      log.warn({ err: error }, 'callbacks wait for the database');
    }
    if (this.#isStarted && !this.#isClosed) {
      this.#timer = setTimeout(() => void this.look(), delayMs).unref();
    }
  }

  #launch(claimed: ClaimedCallback): void {
    const sending: Promise<void> = this.#send(claimed).finally(() => {
      this.#inFlight.delete(sending);
      // Another to the same address may be due.
      if (!this.#isClosed) this.#inFlight.add(this.#lookAgain());
    });
    this.#inFlight.add(sending);
  }

  #lookAgain(): Promise<void> {
    const looking: Promise<void> = this.look().finally(() => this.#inFlight.delete(looking));
    return looking;
  }

  async #send(claimed: ClaimedCallback): Promise<void> {
    const { sql, now, log } = this.#options;
    const outcome = await this.#try(claimed);
    const { id, subjectId, event, attempts } = claimed;
    const facts = { callbackId: id, subjectId, event, attempts };
    if (outcome.status === 'delivered') log.debug(facts, 'a callback was delivered');
    else log.warn({ ...facts, reason: outcome.error }, 'a callback was not delivered');
    try {
      await recordDelivery(sql, claimed, { outcome, now: new Date(now()) });
    } catch (error) {
      log.warn({ err: error, ...facts }, 'the outcome of a callback could not be written down');
    }
  }

  async #try(claimed: ClaimedCallback): Promise<DeliveryOutcome> {
    const { egress, now, timeoutMs = defaultTimeoutMs } = this.#options;
    const { id, event, body, attempts } = claimed;
    const nowMs = () => now();
    // The processes that tried it last did not live to say how it went.
    if (attempts > attemptsMax) {
      return { status: 'failed', error: 'the last attempt ended with its process' };
    }
    try {
      const { url, secret } = this.#openTarget(claimed);
      const answer = await egress.fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'ennead-workflow',
          'x-ennead-event': event,
          'x-ennead-delivery': id,
          'x-ennead-attempt': String(attempts),
          [signatureHeader]: sign(body, secret, Math.floor(nowMs() / 1_000)),
        },
        body,
        timeoutMs,
        responseBytesMax: answerBytesMax,
        isRedirectFollowed: false,
        signal: this.#stopping.signal,
      });
      return outcomeOfAnswer(answer, { attempts, nowMs: nowMs() });
    } catch (error) {
      return outcomeOfFault(Fault.from(error), { attempts, nowMs: nowMs() });
    }
  }

  #openTarget({ id, target }: ClaimedCallback): CallbackTarget {
    const text = this.#options.sealer.unseal(target, targetContext(id)).toString();
    // Sealed by this service.
    return JSON.parse(text) as CallbackTarget;
  }
}

interface Attempt {
  readonly attempts: number;
  readonly nowMs: number;
}

function outcomeOfAnswer(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  { attempts, nowMs }: Attempt,
): DeliveryOutcome {
  if (status >= 200 && status < 300) {
    return { status: 'delivered', at: new Date(nowMs), answer: status };
  }
  const error = `the receiver answered ${status}`;
  // Gone for good (RFC 9110, section 15.5.11).
  if (status === 410) return { status: 'failed', answer: status, error };
  const retryAfterMs = (readRetryAfter(headers.get('retry-after')) ?? 0) * 1_000;
  return { ...again({ attempts, nowMs }, retryAfterMs, error), answer: status };
}

function outcomeOfFault(fault: Fault, attempt: Attempt): DeliveryOutcome {
  const { reason = '', code } = fault;
  const error =
    code === 'internal' ? 'the callback could not be sent' : `${fault.message} (${reason || code})`;
  // What only a change of the address or of the policy mends.
  if (reason === 'redirect_refused' || code === 'forbidden' || code === 'invalid') {
    return { status: 'failed', error };
  }
  return again(attempt, 0, error);
}

/** The next attempt, with a fifth of its delay by chance; failed after the eighth. */
function again({ attempts, nowMs }: Attempt, retryAfterMs: number, error: string): DeliveryOutcome {
  if (attempts >= attemptsMax) {
    return { status: 'failed', error: `${error}; given up after ${attempts} attempts` };
  }
  const backoffMs = firstDelayMs * delayFactor ** (attempts - 1);
  const jitteredMs = backoffMs * (0.9 + Math.random() * 0.2);
  const delayMs = Math.max(jitteredMs, Math.min(retryAfterMs, delayMsMax));
  return { status: 'pending', dueAt: new Date(nowMs + delayMs), error };
}
