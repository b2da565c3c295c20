import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { forgetChanges } from './change-store.ts';
import type { ChangeOutcome } from './commit-plan.ts';
import type { FileSql } from './file-store.ts';
import type { KeptContents } from './kept-contents.ts';

export interface OldChangesOptions {
  readonly sql: FileSql;
  readonly log: Log;
  /** Changes of a workspace that are kept. */
  readonly changesKept: number;
}

const forgetEvery = 1_000;

/** Forgets old changes of workspaces, with the contents that nothing names any more. */
export class OldChanges {
  readonly #options: OldChangesOptions;
  readonly #kept: Pick<KeptContents, 'drop'>;
  /** How often it had to be done, by the numbers of the changes. */
  readonly #counts = new Map<string, number>();

  constructor(options: OldChangesOptions, kept: Pick<KeptContents, 'drop'>) {
    this.#options = options;
    this.#kept = kept;
  }

  /** Now and then: the old ones go when many new ones have come. */
  forgetSometimes(workspaceId: string, outcomes: readonly ChangeOutcome[]): void {
    const seqs = outcomes.flatMap((one) => (one instanceof Fault ? [] : [one.seq]));
    const passed = Math.floor(Math.max(0, ...seqs) / forgetEvery);
    if (passed <= (this.#counts.get(workspaceId) ?? 0)) return;
    this.#counts.set(workspaceId, passed);
    void this.#forget(workspaceId);
  }

  /** The workspace is gone. */
  remove(workspaceId: string): void {
    this.#counts.delete(workspaceId);
  }

  async #forget(workspaceId: string): Promise<void> {
    const { sql, changesKept, log } = this.#options;
    try {
      const unnamed = await forgetChanges(sql, workspaceId, changesKept);
      for (const hash of unnamed) await this.#kept.drop(hash);
    } catch (err) {
      log.warn({ err, workspaceId }, 'old versions could not be forgotten');
    }
  }
}
