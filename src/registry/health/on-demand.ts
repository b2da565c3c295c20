import type { Connection, Directory } from '../connections/connection.ts';
import type { HealthChecker, Verdict } from './checker.ts';
import type { HealthLedger } from './ledger.ts';

export interface OnDemandOptions {
  readonly directory: Pick<Directory, 'find'>;
  readonly checker: Pick<HealthChecker, 'check'>;
  readonly ledger: Pick<HealthLedger, 'flush'>;
}

/** One line of the answer to who asked for many checks. */
export interface BatchResult {
  readonly connectionId: string;
  readonly status: string;
  readonly responseTime?: number;
  readonly error?: string;
}

/** So many of one request are checked at the same time. */
const concurrencyMax = 64;
const defaultMs = 30_000;
/** Verdicts of checks that took all of the time still count. */
const graceMs = 50;

/** Checks that somebody asked for. */
export class OnDemandChecks {
  readonly #options: OnDemandOptions;

  constructor(options: OnDemandOptions) {
    this.#options = options;
  }

  /** Resolves once the verdict is in the table too. */
  async check(connection: Connection): Promise<Verdict> {
    const verdict = await this.#options.checker.check(connection, { isAsked: true });
    void this.#options.ledger.flush();
    await verdict.written;
    return verdict;
  }

  /**
   * In the order of the ids, within `timeoutMs`, which each check may take as well where that is more
   * than the connection's own timeout; 30 s with the own timeouts when absent. Who waits no longer than that changes nothing for the
   * server: its check goes on to its own end, and only that counts.
   */
  async checkMany(ids: readonly string[], timeoutMs?: number): Promise<BatchResult[]> {
    const results: BatchResult[] = [];
    const end = new End(timeoutMs);
    const queue = ids.entries();
    const work = async (): Promise<void> => {
      for (const [place, id] of queue) results[place] = await this.#checkOne(id, end, timeoutMs);
    };
    await Promise.all(Array.from({ length: Math.min(ids.length, concurrencyMax) }, work));
    end.dispose();
    await Promise.race([this.#options.ledger.flush(), end.passed]);
    return results;
  }

  async #checkOne(
    connectionId: string,
    end: End,
    checkMs: number | undefined,
  ): Promise<BatchResult> {
    const connection = this.#options.directory.find(connectionId);
    if (!connection) return { connectionId, status: 'error', error: 'no such connection' };
    const verdict = end.isPassed
      ? undefined
      : await Promise.race([
          this.#options.checker.check(connection, { isAsked: true, timeoutMs: checkMs }),
          end.passed,
        ]);
    if (verdict) return toResult(verdict);
    return { connectionId, status: 'error', error: `no verdict within ${end.timeoutMs} ms` };
  }
}

/** A time after which nobody waits any more. */
class End {
  readonly timeoutMs: number;
  readonly passed: Promise<undefined>;
  isPassed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs = defaultMs) {
    this.timeoutMs = timeoutMs;
    this.passed = new Promise((resolve) => {
      this.#timer = setTimeout(() => {
        this.isPassed = true;
        resolve(undefined);
      }, timeoutMs + graceMs);
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

function toResult({ connectionId, status, isAnswered, ...rest }: Verdict): BatchResult {
  if (isAnswered) return { connectionId, status, responseTime: rest.responseTime };
  return { connectionId, status, error: `${rest.reason}: ${rest.message}` };
}
