import type { ExecutionEvent } from './execution.ts';

/** Events that a follower may lag behind before it reads them from the database again. */
const queueMax = 1_000;

/** Events of one execution as they are stored, for one reader. */
export class Following {
  readonly executionId: string;
  readonly #leave: (following: Following) => void;
  #queue: ExecutionEvent[] = [];
  #wake: () => void = () => {};

  constructor(executionId: string, leave: (following: Following) => void) {
    this.executionId = executionId;
    this.#leave = leave;
  }

  /** What came since the last call; a slow reader's is dropped, and found missing by its seq. */
  take(): ExecutionEvent[] {
    const events = this.#queue;
    this.#queue = [];
    return events;
  }

  /** Resolves at the next event, after the time, or at the abort. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#queue.length > 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, timeoutMs);
      signal.addEventListener('abort', finish, { once: true });
      this.#wake = finish;
    });
  }

  push(events: readonly ExecutionEvent[]): void {
    if (this.#queue.length + events.length > queueMax) this.#queue = [];
    else this.#queue.push(...events);
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.#leave(this);
  }
}

/** Hands the events that this process stores to those who follow them. */
export class EventHub {
  readonly #followings = new Map<string, Set<Following>>();

  follow(executionId: string): Following {
    const following = new Following(executionId, (gone) => this.#remove(gone));
    const others = this.#followings.get(executionId);
    if (others) others.add(following);
    else this.#followings.set(executionId, new Set([following]));
    return following;
  }

  tell(executionId: string, events: readonly ExecutionEvent[]): void {
    for (const following of this.#followings.get(executionId) ?? []) following.push(events);
  }

  #remove(following: Following): void {
    const all = this.#followings.get(following.executionId);
    all?.delete(following);
    if (all?.size === 0) this.#followings.delete(following.executionId);
  }
}
