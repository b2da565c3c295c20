import type { Expectation } from './expectation.ts';

/** A run of a workflow and what must come of it. */
export interface FlowTest {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs that stand in for running these nodes. */
  readonly pinned: Readonly<Record<string, unknown>>;
  /** How the execution must end; `completed` when absent. */
  readonly status?: 'completed' | 'failed';
  readonly expect: readonly Expectation[];
}
