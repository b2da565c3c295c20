import { Fault } from '../../kit/errors.ts';
import type { ChangeOutcome, PreparedChange } from './commit-plan.ts';
import type { FilePlace } from './disk-notes.ts';
import type { FileCommits } from './file-commits.ts';
import type { KeyLocks } from './key-locks.ts';

export interface CommitQueueOptions {
  readonly locks: KeyLocks;
  readonly commits: Pick<FileCommits, 'commit'>;
  /** Fault `not_found` for a workspace that has gone. */
  readonly placeOf: (workspaceId: string) => Promise<FilePlace>;
}

interface Waiting {
  readonly items: readonly PreparedChange[];
  readonly resolve: (outcomes: readonly ChangeOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Stores together what waits for a workspace at the same time, whoever it came from. */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /** What came of each; rejects when nothing of it was stored. */
  add(workspaceId: string, items: readonly PreparedChange[]): Promise<readonly ChangeOutcome[]> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(workspaceId);
      if (waiting) {
        waiting.push({ items, resolve, reject });
        return;
      }
      this.#waiting.set(workspaceId, [{ items, resolve, reject }]);
      void this.#options.locks.run(workspaceId, () => this.#commit(workspaceId));
    });
  }

  /** Never rejects: those who wait are told. */
  async #commit(workspaceId: string): Promise<void> {
    const waiting = this.#waiting.get(workspaceId) ?? [];
    this.#waiting.delete(workspaceId);
    try {
      // It may have gone while others had the lock.
      const place = await this.#options.placeOf(workspaceId);
      const items = waiting.flatMap((one) => one.items);
      const outcomes = await this.#options.commits.commit(place, items);
      for (const one of waiting) {
        one.resolve(one.items.map((item) => outcomes.get(item) ?? notDone()));
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}

function notDone(): Fault {
  return new Fault('internal', 'the change was not carried out');
}
