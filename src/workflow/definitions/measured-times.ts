import type { Execution } from '../engine/execution.ts';
import { readMeasuredTimes } from './catalog-store.ts';
import type { WorkflowSql } from './workflow-store.ts';

const workflowsMax = 10_000;
/** Weight of the newest execution. */
const newest = 0.1;

/** How long executions of workflows take: kept in memory, and read where nothing is known yet. */
export class MeasuredTimes {
  readonly #sql: WorkflowSql;
  readonly #ms = new Map<string, number | undefined>();

  constructor(sql: WorkflowSql) {
    this.#sql = sql;
  }

  /** Learns from an execution that has ended. */
  ended({ workflowId, status, trigger, startedAtMs, completedAtMs }: Execution): void {
    if (status !== 'completed' || trigger === 'test' || completedAtMs === undefined) return;
    const ms = Math.max(0, completedAtMs - startedAtMs);
    const before = this.#ms.get(workflowId) ?? ms;
    this.#keep(workflowId, before + (ms - before) * newest);
  }

  /** Whole milliseconds by workflow; those that never completed are not there. */
  async read(workflowIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const unknown = workflowIds.filter((id) => !this.#ms.has(id));
    if (unknown.length > 0) {
      const found = await readMeasuredTimes(this.#sql, unknown);
      for (const id of unknown) if (!this.#ms.has(id)) this.#keep(id, found.get(id));
    }
    return new Map(
      workflowIds.flatMap((id) => {
        const ms = this.#ms.get(id);
        return ms === undefined ? [] : [[id, Math.round(ms)] as const];
      }),
    );
  }

  /** What is known of one without asking the database. */
  known(workflowId: string): number | undefined {
    const ms = this.#ms.get(workflowId);
    return ms === undefined ? undefined : Math.round(ms);
  }

  #keep(workflowId: string, ms: number | undefined): void {
    this.#ms.delete(workflowId);
    this.#ms.set(workflowId, ms);
    for (const oldest of this.#ms.keys()) {
      if (this.#ms.size <= workflowsMax) return;
      this.#ms.delete(oldest);
    }
  }
}
