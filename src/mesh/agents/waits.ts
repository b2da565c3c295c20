import { Fault } from '../../kit/errors.ts';

const waitsMax = 10_000;

interface Wait {
  readonly isOver: () => boolean;
  readonly end: () => void;
}

/** Queries that wait for a change of what they ask for. */
export class Waits implements Disposable {
  readonly #waits = new Set<Wait>();

  /**
   * Resolves when `isOver` holds, when the time is up, or when the signal aborts; refuses with
   * `exhausted` when too many wait already.
   */
  wait(isOver: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (isOver() || timeoutMs <= 0 || signal.aborted) return Promise.resolve();
    if (this.#waits.size >= waitsMax) {
      const message = 'too many queries wait for changes already';
      return Promise.reject(new Fault('exhausted', message, { retryAfter: 5 }));
    }
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#waits.delete(wait);
        resolve();
      };
      const wait: Wait = { isOver, end };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end, { once: true });
      this.#waits.add(wait);
    });
  }

  /** To be called when something has changed. */
  check(): void {
    for (const wait of this.#waits) if (wait.isOver()) wait.end();
  }

  [Symbol.dispose](): void {
    for (const wait of this.#waits) wait.end();
  }
}
