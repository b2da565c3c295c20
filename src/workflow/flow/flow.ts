/** When a node that fails is tried again. */
export interface Retry {
  readonly enabled: boolean;
  /** All attempts, the first included. */
  readonly maxAttempts: number;
  readonly backoff: 'exponential' | 'linear' | 'fixed';
  /** Milliseconds before the second attempt at least; chance adds up to a quarter. */
  readonly initialDelay: number;
  /** Milliseconds that no wait exceeds. */
  readonly maxDelay?: number;
}

/** One step of a flow. */
export interface FlowNode {
  /** Unique within the flow, 1..64 characters. */
  readonly id: string;
  /** The name of a component. */
  readonly type: string;
  readonly label?: string;
  readonly position?: { readonly x: number; readonly y: number };
  /** Settings of the component; texts may hold Liquid placeholders. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly retry?: Retry;
  /** Milliseconds that one attempt may take; of a Loop or a Parallel all that it runs. */
  readonly timeout?: number;
  /** `continue` goes on along the handle `error`, or with `{error}` as the output; else the execution fails. */
  readonly onError?: 'fail' | 'continue';
}

/** What leads from one node to the next. */
export interface FlowEdge {
  readonly source: string;
  readonly target: string;
  /** Taken only when the source ended on this handle: `true`, `false`, a case of Switch, `body`, `done`, `error`, … */
  readonly sourceHandle?: string;
  readonly targetHandle?: string;
  /** CEL; taken only when it is true. */
  readonly condition?: string;
}

/** Bounds of a whole execution. */
export interface FlowSettings {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly maxTokens?: number;
  /** US dollars. */
  readonly maxCost?: number;
}

/** A graph of nodes as it is stored, drawn and exchanged. */
export interface Flow {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings?: FlowSettings;
}

/** One thing that is wrong with a flow. */
export interface FlowFault {
  /** Upper snake case: `DUPLICATE_NODE`, `UNKNOWN_COMPONENT`, `DANGLING_EDGE`, `CYCLE`, `UNKNOWN_REFERENCE`, `BAD_EXPRESSION`, `BAD_SETTING`, `TOO_LARGE`, … */
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
  /** Index in `edges`. */
  readonly edge?: number;
  /** JSON pointer within the node's `data`. */
  readonly path?: string;
}

/** What placeholders and conditions see. */
export interface Scope {
  /** Outputs of nodes that ended, by id; the innermost loop's round where the node lies in a loop. */
  readonly nodes: Readonly<Record<string, unknown>>;
  /** The execution's `inputs`. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly loop?: { readonly item: unknown; readonly index: number };
  readonly execution: { readonly id: string; readonly workflowId: string };
}
