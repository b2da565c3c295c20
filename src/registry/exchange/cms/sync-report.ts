import { Fault } from '../../../kit/errors.ts';
import type { SyncChange, SyncConflict, SyncError, SyncMode, SyncResult } from './sync-result.ts';

/** Of each list that a report holds. */
const entriesMax = 1_000;

export interface SyncReportOptions {
  readonly syncId: string;
  readonly direction: SyncMode;
  readonly isDryRun: boolean;
}

/** Collects what a sync does; its lists are bounded, its counts are not. */
export class SyncReport {
  readonly #options: SyncReportOptions;
  readonly #changes: SyncChange[] = [];
  readonly #conflicts: SyncConflict[] = [];
  readonly #errors: SyncError[] = [];
  readonly #counts = { create: 0, update: 0, remove: 0, link: 0 };

  constructor(options: SyncReportOptions) {
    this.#options = options;
  }

  /** Whether nothing failed and nothing was left as it is on both sides. */
  get isClean(): boolean {
    return this.#errors.length === 0 && this.#conflicts.length === 0;
  }

  change(change: SyncChange): void {
    this.#counts[change.action]++;
    if (this.#changes.length < entriesMax) this.#changes.push(change);
  }

  conflict(conflict: SyncConflict): void {
    if (this.#conflicts.length < entriesMax) this.#conflicts.push(conflict);
  }

  /** Throws what is our own mistake; all else is told. */
  fail(place: Pick<SyncError, 'stage' | 'side' | 'name'>, error: unknown): void {
    const fault = Fault.from(error);
    if (fault.code === 'internal') throw fault;
    const { code, reason, message } = fault;
    if (this.#errors.length >= entriesMax) return;
    this.#errors.push({ ...place, code: reason ?? code, message });
  }

  result(): SyncResult {
    const { syncId, direction, isDryRun } = this.#options;
    const { create, update, remove } = this.#counts;
    return {
      syncId,
      direction,
      created: create,
      updated: update,
      removed: remove,
      conflicts: this.#conflicts,
      errors: this.#errors,
      changes: this.#changes,
      dryRun: isDryRun,
    };
  }
}
