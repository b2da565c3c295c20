import type { Plan } from '../../flow/plan.ts';
import type { StoredRequest } from '../journal/execution-row.ts';
import type { OutputSecrets } from '../journal/output-secrets.ts';

/** What a node came to in an earlier life of the execution. */
export interface Past {
  readonly kind: 'done' | 'parked';
  readonly output: unknown;
  readonly handle?: string | undefined;
  /** It failed, and the flow went on from that. */
  readonly isFailed?: boolean;
}

export interface WalkOptions {
  readonly plan: Plan;
  /** What is pinned stands in for running nodes, in every iteration. */
  readonly request: Pick<StoredRequest, 'inputs' | 'inputUses' | 'pinned'>;
  readonly execution: { readonly id: string; readonly workflowId: string };
  /** Of the outputs; absent where no node gives any. */
  readonly secrets?: OutputSecrets | undefined;
  readonly past: (nodeId: string, iteration: string) => Past | undefined;
}
