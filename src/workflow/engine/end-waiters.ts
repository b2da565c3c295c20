import type { StoredExecution } from './journal/execution-row.ts';

type Waiter = (stored?: StoredExecution) => void;

/** Those in this process who wait for the end of an execution. */
export class EndWaiters {
  readonly #waiters = new Map<string, Set<Waiter>>();

  /** The execution when it ends here; undefined when the time is over or the signal aborts. */
  next(
    executionId: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<StoredExecution | undefined> {
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(executionId) ?? new Set<Waiter>();
      const finish = (stored?: StoredExecution) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        waiters.delete(finish);
        if (waiters.size === 0) this.#waiters.delete(executionId);
        resolve(stored);
      };
      const onAbort = () => finish();
      const timer = setTimeout(finish, Math.max(0, timeoutMs));
      signal?.addEventListener('abort', onAbort, { once: true });
      waiters.add(finish);
      this.#waiters.set(executionId, waiters);
    });
  }

  tell(stored: StoredExecution): void {
    for (const resolve of this.#waiters.get(stored.id) ?? []) resolve(stored);
  }
}
