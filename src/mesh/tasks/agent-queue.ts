import { Fault } from '../../kit/errors.ts';
import { priorities, type Priority } from './task.ts';

export interface QueueLimits {
  /** Tasks that the agent does at the same time. */
  readonly concurrency: number;
  /** Tasks that may wait; more are refused. */
  readonly lengthMax: number;
}

interface Waiting {
  readonly start: () => void;
  readonly order: number;
}

/** So often the one that waits longest goes first, so that nothing waits for ever. */
const fairEvery = 16;

/** The tasks of one agent in the order in which it gets them: the most urgent first. */
export class AgentQueue {
  /** By priority, the least urgent first; a set keeps the order of arrival. */
  readonly #waiting = priorities.map(() => new Set<Waiting>());
  #runningCount = 0;
  #waitingCount = 0;
  #arrivals = 0;
  #starts = 0;

  /** Tasks that the agent is doing. */
  get runningCount(): number {
    return this.#runningCount;
  }

  get isIdle(): boolean {
    return this.#runningCount === 0 && this.#waitingCount === 0;
  }

  isFull({ lengthMax }: QueueLimits): boolean {
    return this.#waitingCount >= lengthMax;
  }

  /**
   * Resolves when it is the task's turn; call `leave` then. Rejects with `unavailable` when too many
   * wait, and with the signal's reason.
   */
  async enter(priority: Priority, limits: QueueLimits, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#runningCount < limits.concurrency && this.#waitingCount === 0) {
      this.#runningCount += 1;
      return;
    }
    if (this.isFull(limits)) {
      throw new Fault('unavailable', 'too many tasks wait for the agent', {
        reason: 'agent_queue_full',
        retryAfter: 1,
      });
    }
    await this.#wait(priority, signal);
  }

  /** Makes room for the next one. */
  leave(): void {
    this.#runningCount -= 1;
    const next = this.#take();
    if (!next) return;
    this.#runningCount += 1;
    next.start();
  }

  #wait(priority: Priority, signal: AbortSignal): Promise<void> {
    const level = this.#waiting[priorities.indexOf(priority)];
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (level?.delete(waiting)) this.#waitingCount -= 1;
        reject(signal.reason as Error);
      };
      const start = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiting: Waiting = { start, order: (this.#arrivals += 1) };
      level?.add(waiting);
      this.#waitingCount += 1;
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #take(): Waiting | undefined {
    if (this.#waitingCount === 0) return undefined;
    this.#starts += 1;
    const level = this.#starts % fairEvery === 0 ? this.#oldestLevel() : this.#urgentLevel();
    const [next] = level ?? [];
    if (!next) return undefined;
    level?.delete(next);
    this.#waitingCount -= 1;
    return next;
  }

  #urgentLevel(): Set<Waiting> | undefined {
    return this.#waiting.findLast((level) => level.size > 0);
  }

  #oldestLevel(): Set<Waiting> | undefined {
    let oldest: Set<Waiting> | undefined;
    let first = Infinity;
    for (const level of this.#waiting) {
      const [{ order } = { order: Infinity }] = level;
      if (order >= first) continue;
      first = order;
      oldest = level;
    }
    return oldest;
  }
}
