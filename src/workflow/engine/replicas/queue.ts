import type { Log } from '../../../kit/log.ts';
import type { Clock } from '../clock.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import { claimExecutions, readLastSeqs, readRetries } from '../journal/executions-store.ts';
import { readNodes } from '../journal/node-runs-store.ts';
import type { EngineSql } from '../journal/journal-store.ts';
import type { Places } from './places.ts';
import { openNodes, readOpenNodes } from '../journal/open-nodes.ts';
import { hasOverdue, historyOf, type History } from '../run/recovery.ts';

export interface QueueOptions {
  readonly sql: EngineSql;
  readonly log: Log;
  readonly replica: () => string;
  readonly places: Places;
  readonly clock: Clock;
  /** Of executions within others, cancels and answers those that these wait for no more. */
  readonly cancelAbandoned: (executionIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly take: (stored: StoredExecution, history: History) => Promise<void>;
}

/** A portion, so that replicas share what a dead one left. */
const portionMax = 50;

/** Takes queued executions as there is room for them: new ones, woken ones and those of dead replicas. */
export class Queue {
  readonly #options: QueueOptions;
  #isTaking = false;
  #isStopped = false;
  #taking: Promise<void> = Promise.resolve();
  /** Whether somebody may wait; then a new one waits behind. */
  hasWaiting = true;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Something was queued, or there is room again. */
  nudge(): void {
    if (this.#isTaking || this.#isStopped || !this.hasWaiting) return;
    this.#isTaking = true;
    this.#taking = this.#takeAll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#taking;
  }

  async #takeAll(): Promise<void> {
    try {
      while (this.hasWaiting && !this.#isStopped) {
        const countMax = this.#options.places.keep(portionMax);
        if (countMax <= 0) return;
        this.hasWaiting = false;
        const taken = await this.#takePortion(countMax);
        if (taken === countMax) this.hasWaiting = true;
      }
    } catch (error) {
      this.hasWaiting = true;
      this.#options.log.warn({ err: error }, 'queued executions could not be taken; trying again');
    } finally {
      // In the turn that found nothing more, so that a nudge is never lost.
      this.#isTaking = false;
    }
  }

  /** Gives each place back once its execution has begun, and those that nobody needs. */
  async #takePortion(reserved: number): Promise<number> {
    const { sql, replica, take, places, cancelAbandoned, clock } = this.#options;
    let kept = reserved;
    try {
      const claimed = await claimExecutions(sql, replica(), reserved);
      if (claimed.length === 0) return 0;
      const within = claimed.filter(({ request }) => request.parent).map(({ id }) => id);
      const gone = within.length > 0 ? await cancelAbandoned(within) : new Set();
      const taken = claimed.filter(({ id }) => !gone.has(id));
      const ids = taken.map(({ id }) => id);
      const nodes = await readNodes(sql, ids);
      const seqs = await readLastSeqs(sql, ids);
      const begun = ids.filter((id) => seqs.has(id));
      const retries = await readRetries(sql, begun);
      for (const stored of taken) {
        const { id } = stored;
        const entries = nodes.get(id) ?? [];
        // What began and is to be ended before it can go on is known by its event only.
        const open = hasOverdue(entries, clock.nowMs())
          ? await readOpenNodes(sql, id)
          : openNodes(retries.get(id) ?? []);
        await take(stored, historyOf(entries, seqs.get(id) ?? 0, open));
        places.giveBack(1);
        kept -= 1;
      }
      return claimed.length;
    } finally {
      places.giveBack(kept);
    }
  }
}
