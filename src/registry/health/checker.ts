import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Connection, Directory, HealthStatus } from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import type { ExchangeOptions, Link, Links } from '../links/link.ts';
import { isCheckable } from './due.ts';
import { explain, failureOf, isAnswerAfterAll, type Finding } from './finding.ts';
import type { Judgement } from './judgement.ts';
import type { HealthLedger, LedgerEntryOptions } from './ledger.ts';

/** How a check came out, for metrics. */
export type CheckOutcome = 'success' | 'slow' | 'failure';

export interface LearnOptions extends ExchangeOptions {
  /** Somebody asked for the check: the lists are learned however young they are. */
  readonly isAsked: boolean;
}

export interface CheckOptions extends LedgerEntryOptions {
  /** Somebody asked for it; the schedule does not. */
  readonly isAsked?: boolean | undefined;
  /** How long it may take where the connection's own timeout is shorter. */
  readonly timeoutMs?: number | undefined;
}

export interface CheckerOptions {
  readonly links: Pick<Links, 'open'>;
  readonly directory: Pick<Directory, 'find'>;
  readonly ledger: Pick<HealthLedger, 'enterCheck' | 'standing'>;
  readonly events: EventSink;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called after a server answered; resolves when its lists are known and not old. A failure of it is
   * no failure of the check, and the check waits for it no longer than for the server.
   */
  readonly learn?: ((connectionId: string, options: LearnOptions) => Promise<unknown>) | undefined;
  readonly onChecked?: ((outcome: CheckOutcome, seconds: number) => void) | undefined;
}

/** What a check found, and how the connection stands after it. */
export interface Verdict {
  readonly connectionId: string;
  readonly isAnswered: boolean;
  readonly status: HealthStatus;
  readonly responseTime: number;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly reason?: string;
  /** A sentence, when there was no answer. */
  readonly message?: string;
  readonly standing: Judgement;
  /** Resolves when it is in the table. */
  readonly written: Promise<void>;
}

/**
 * Checks by a real exchange: opens the link if it is not open, and asks. A connection is asked once at
 * a time: who comes meanwhile gets the same verdict.
 */
export class HealthChecker implements Disposable {
  readonly #options: CheckerOptions;
  readonly #running = new Map<string, Promise<Verdict>>();
  readonly #deadlines = new Set<Deadline>();
  #isStopped = false;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /**
   * Ends within the connection's own timeout, and as long again when its lists are learned, whatever
   * the server does. Rejects with a Fault `unavailable` when the checks are ended: nothing counts then.
   */
  check(connection: Connection, options: CheckOptions = {}): Promise<Verdict> {
    const { id } = connection;
    if (this.#isStopped) return Promise.reject(stopping());
    const running = this.#running.get(id);
    if (running) return options.isAsked ? this.#learnAfter(running, connection) : running;
    const check = this.#check(connection, options).finally(() => this.#running.delete(id));
    this.#running.set(id, check);
    return check;
  }

  /** Ends what runs. */
  [Symbol.dispose](): void {
    this.#isStopped = true;
    for (const deadline of this.#deadlines) deadline.pass(stopping());
  }

  async #check(connection: Connection, options: CheckOptions): Promise<Verdict> {
    const { directory, ledger, events, now, onChecked } = this.#options;
    if (!isCheckable(connection)) return this.#unasked(connection);
    const finding = await this.#find(connection, options.timeoutMs);
    const current = directory.find(connection.id);
    // Its link was closed under the check, which is no failure of the server.
    if (current?.status === 'disconnected') return this.#unasked(current);
    const { written, ...standing } = ledger.enterCheck(connection, finding, options);
    const verdict = toVerdict(connection.id, finding, { standing, written, nowMs: now() });
    const { status, reason, responseTime, timestamp } = verdict;
    onChecked?.(outcomeOf(verdict), finding.responseTimeMs / 1000);
    events.tell({
      type: 'health-check',
      connectionId: connection.id,
      health: status,
      responseTime,
      timestamp,
      ...(reason === undefined ? {} : { reason }),
    });
    if (finding.isAnswered) await this.#learn(connection, options.isAsked);
    return verdict;
  }

  /** A check of the schedule that was joined need not have learned anything. */
  async #learnAfter(running: Promise<Verdict>, connection: Connection): Promise<Verdict> {
    const verdict = await running;
    if (verdict.isAnswered) await this.#learn(connection, true);
    return verdict;
  }

  /** There is nothing to ask; what is known stays as it is. */
  #unasked(connection: Connection): Verdict {
    const { ledger, now } = this.#options;
    const isGone = connection.status === 'disconnected';
    const finding: Finding = {
      isAnswered: false,
      responseTimeMs: 0,
      ...failureOf(isGone ? 'disconnected' : 'no_endpoint'),
    };
    const standing = ledger.standing(connection);
    const written = Promise.resolve();
    const verdict = toVerdict(connection.id, finding, { standing, written, nowMs: now() });
    return isGone ? { ...verdict, status: 'error' } : verdict;
  }

  async #find(connection: Connection, timeoutMs?: number): Promise<Finding> {
    let beginMs = performance.now();
    const deadline = this.#open(connection, timeoutMs);
    let link: Link | undefined;
    try {
      link = await deadline.race(this.#options.links.open(connection.id, deadline.options));
      // A process that was begun for this is no slow server: what is measured is the answer.
      beginMs = performance.now();
      await deadline.race(link.probe(deadline.options));
    } catch (error) {
      if (this.#isStopped) throw stopping();
      const responseTimeMs = performance.now() - beginMs;
      if (!link || !isAnswerAfterAll(error)) {
        const isProcess = connection.protocol === 'stdio';
        const failure = explain(error, link !== undefined || isProcess);
        this.#logOwn(error, connection.id);
        return { isAnswered: false, responseTimeMs, ...failure };
      }
    } finally {
      this.#close(deadline);
    }
    return { isAnswered: true, responseTimeMs: performance.now() - beginMs };
  }

  /** A server that fails is no news for the log; a mistake of ours is. */
  #logOwn(error: unknown, connectionId: string): void {
    if (Fault.from(error).code !== 'internal') return;
    this.#options.log.error({ err: error, connectionId }, 'a health check failed by itself');
  }

  async #learn(connection: Connection, isAsked = false): Promise<void> {
    const { learn, log } = this.#options;
    if (!learn) return;
    const deadline = this.#open(connection);
    try {
      await deadline.race(learn(connection.id, { ...deadline.options, isAsked }));
    } catch (error) {
      log.debug({ err: error, connectionId: connection.id }, 'a server was not learned');
    } finally {
      this.#close(deadline);
    }
  }

  #open({ healthCheck }: Connection, timeoutMs = 0): Deadline {
    const deadline = new Deadline(Math.max(healthCheck.timeout, timeoutMs));
    this.#deadlines.add(deadline);
    return deadline;
  }

  #close(deadline: Deadline): void {
    deadline.end();
    this.#deadlines.delete(deadline);
  }
}

/** An end that holds even against who does not listen to it. */
class Deadline {
  readonly options: { readonly signal: AbortSignal; readonly timeoutMs: number };
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #passed: Promise<never>;
  #reject: (fault: Fault) => void = () => {};

  constructor(timeoutMs: number) {
    this.options = { signal: this.#controller.signal, timeoutMs };
    this.#passed = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    // Nobody may be waiting when it passes.
    this.#passed.catch(() => {});
    this.#timer = setTimeout(() => this.pass(tooLate()), timeoutMs);
  }

  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#passed]);
  }

  pass(fault: Fault): void {
    this.#reject(fault);
    this.#controller.abort(fault);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

function tooLate(): Fault {
  return new Fault('deadline', 'the server did not answer in time', { reason: 'timeout' });
}

function stopping(): Fault {
  return new Fault('unavailable', 'the health checks are ended', { reason: 'stopping' });
}

function toVerdict(
  connectionId: string,
  finding: Finding,
  { standing, written, nowMs }: Pick<Verdict, 'standing' | 'written'> & { nowMs: number },
): Verdict {
  const { status, reason } = standing.health;
  return {
    connectionId,
    isAnswered: finding.isAnswered,
    status,
    responseTime: Math.round(finding.responseTimeMs * 100) / 100,
    timestamp: new Date(nowMs).toISOString(),
    ...(finding.isAnswered
      ? reason === undefined
        ? {}
        : { reason }
      : { reason: finding.reason, message: finding.message }),
    standing,
    written,
  };
}

function outcomeOf({ isAnswered, reason }: Verdict): CheckOutcome {
  if (!isAnswered) return 'failure';
  return reason === 'slow' ? 'slow' : 'success';
}
