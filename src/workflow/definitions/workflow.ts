export const workflowStatuses = ['draft', 'active', 'archived'] as const;
export type WorkflowStatus = (typeof workflowStatuses)[number];

export const complexities = ['simple', 'intermediate', 'advanced'] as const;
export type Complexity = (typeof complexities)[number];

/** What a flow is like, measured once when it is saved. */
export interface FlowFacts {
  /** The number of its nodes. */
  readonly components: number;
  readonly complexity: Complexity;
  /** Milliseconds that an execution takes as a rule, by the components' own estimates. */
  readonly typicalMs: number;
}

/** What its owner may say of a workflow. */
export interface WorkflowLabels {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
}

/** A workflow without its flow; the facts are those of the published version, else of the newest. */
export interface Workflow extends WorkflowLabels, FlowFacts {
  readonly id: string;
  readonly status: WorkflowStatus;
  readonly ownerId: string;
  /** The version that new executions run; absent while nothing was published. */
  readonly version: number | undefined;
  /** The newest version, published or a draft. */
  readonly latest: number;
  /** Counts changes. */
  readonly revision: number;
  readonly templateId: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One state of a workflow's flow; once it is published it never changes. */
export interface WorkflowVersion extends FlowFacts {
  readonly workflowId: string;
  readonly version: number;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly publishedAt: Date | undefined;
}

/** Who changes something. */
export interface Actor {
  readonly id: string;
  /** Whether everybody's workflows are theirs to change. */
  readonly isAdmin: boolean;
  /** What they hold; nothing when absent. */
  readonly permissions?: readonly string[];
}
