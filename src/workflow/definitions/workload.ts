import { countExecutions, type ExecutionCounts } from './catalog-store.ts';
import type { WorkflowSql } from './workflow-store.ts';

/** What the engine has to do; `isMeasured` is false while the database does not answer. */
export interface Workload extends ExecutionCounts {
  readonly isMeasured: boolean;
}

const freshMs = 1_000;

/** Counts executions for health, at most once a second however many ask. */
export class WorkloadGauge {
  readonly #sql: WorkflowSql;
  readonly #now: () => number;
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #measuring: Promise<Workload> | undefined;
  #last: Workload = { active: 0, queued: 0, totalToday: 0, isMeasured: false };

  constructor(sql: WorkflowSql, now: () => number = Date.now) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Never rejects: what was counted last when nothing can be counted now. */
  read(): Promise<Workload> {
    if (this.#now() - this.#measuredAtMs < freshMs) return Promise.resolve(this.#last);
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #measure(): Promise<Workload> {
    try {
      const today = new Date(this.#now()).setUTCHours(0, 0, 0, 0);
      const counts = await countExecutions(this.#sql, new Date(today));
      this.#last = { ...counts, isMeasured: true };
    } catch {
      this.#last = { ...this.#last, isMeasured: false };
    }
    this.#measuredAtMs = this.#now();
    return this.#last;
  }
}
