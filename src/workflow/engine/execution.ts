import type { Rest, Usage } from '../components/component.ts';
import type { Plan } from '../flow/plan.ts';

export const executionStatuses = [
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

export type Trigger =
  | 'api'
  | 'batch'
  | 'schedule'
  | 'webhook'
  | 'event'
  | 'workflow'
  | 'tool'
  | 'test';

export interface Callbacks {
  readonly onComplete?: string;
  readonly onError?: string;
  /** Signs the callbacks; sealed at rest, never answered. */
  readonly secret?: string;
}

/**
 * What becomes of an input that has the name of a node. `as-is`: it is merged over the node's settings,
 * and nothing in it is rendered, because placeholders made it of what came from elsewhere. `read`: it is
 * there as `inputs.<key>` and nothing more.
 */
export type InputUse = 'as-is' | 'read';

/** By key of the inputs; whoever starts the execution wrote those without a use: they are rendered and merged. */
export type InputUses = Readonly<Record<string, InputUse>>;

export interface StartRequest {
  readonly workflowId: string;
  /** The published version unless told. */
  readonly version?: number;
  /** By node id. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly inputUses?: InputUses;
  readonly ownerId: string;
  readonly trigger: Trigger;
  /** What whoever starts it holds; nothing when absent, and then no component that asks for any runs. */
  readonly permissions?: readonly string[];
  readonly callbacks?: Callbacks;
  /** Kept sealed until the execution ends, and only for flows with a component that asks for it. */
  readonly callerToken?: string;
  readonly timeoutMs?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly batch?: { readonly id: string; readonly index: number };
  readonly parent?: {
    readonly executionId: string;
    readonly nodeId: string;
    readonly iteration: string;
    /** 0 for an execution that nobody started from within another; bounded. */
    readonly depth: number;
  };
  /** Outputs that stand in for running these nodes (tests, re-runs). */
  readonly pinned?: Readonly<Record<string, unknown>>;
  /** A second start of one owner with the same key answers the first one's execution. */
  readonly idempotencyKey?: string;
  /** Of the span that causes it, so that the execution joins its trace. */
  readonly traceparent?: string;
}

export interface NodeError {
  readonly nodeId: string;
  readonly attempt: number;
  readonly message: string;
  /** Upper snake case: `MODEL_TIMEOUT`, `BUDGET_EXCEEDED`, … */
  readonly code: string;
}

/** What a parked node was answered; until its run takes it, it stands in place of the output. */
export type SignalAnswer = { readonly usage?: Usage } & (
  | { readonly output: unknown; readonly handle?: string }
  | {
      readonly error: Omit<NodeError, 'nodeId' | 'attempt'>;
      /** Whether the same again may end better; as its code says when absent. */
      readonly isRetryable?: boolean;
    }
);

export interface NodeRun {
  readonly nodeId: string;
  readonly iteration: string;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'skipped' | 'cancelled';
  readonly attempt: number;
  readonly startedAtMs: number;
  /** Milliseconds; absent while it runs. */
  readonly duration?: number;
  readonly output?: unknown;
  readonly handle?: string;
  readonly error?: Omit<NodeError, 'nodeId' | 'attempt'>;
  readonly modelUsed?: string;
  readonly tokensUsed?: number;
  readonly cost?: number;
  readonly entityCreated?: Readonly<Record<string, unknown>>;
  readonly wakeAtMs?: number;
  /** Of a waiting node: for what. */
  readonly reason?: 'wait' | 'approval' | 'child';
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface Execution {
  readonly id: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly trigger: Trigger;
  readonly ownerId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly startedAtMs: number;
  readonly completedAtMs?: number;
  /** Outputs of the flow's ends, by node id. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: NodeError;
  /** Whether the same again may end better: false for what only a change of flow or inputs mends. */
  readonly retryable?: boolean;
  readonly tokensUsed: number;
  readonly cost: number;
  readonly batch?: { readonly id: string; readonly index: number };
  readonly parent?: StartRequest['parent'];
  /** For those who are told of its end only; never answered. */
  readonly callbacks?: Callbacks;
}

/** What happens to an execution; `seq` counts from 1 within it. */
export interface ExecutionEvent {
  readonly type:
    | 'node-started'
    | 'node-completed'
    | 'node-failed'
    | 'node-retrying'
    | 'node-skipped'
    | 'node-waiting'
    | 'node-cancelled'
    | 'workflow-completed'
    | 'workflow-failed'
    | 'workflow-cancelled';
  readonly executionId: string;
  readonly timestamp: string;
  readonly seq: number;
  readonly nodeId?: string;
  readonly iteration?: string;
  readonly duration?: number;
  readonly output?: unknown;
  readonly result?: unknown;
  readonly error?: Omit<NodeError, 'nodeId'> | NodeError;
  readonly attempt?: number;
  /** Milliseconds until the next attempt. */
  readonly delay?: number;
  /** Of a node that is tried again: what its attempts used until now. */
  readonly usage?: Usage;
}

/** Where the engine gets what it runs; versions never change, so plans may be kept. */
export interface PlanSource {
  /** Fault `not_found` (`workflow_not_found`), `conflict` (`workflow_not_active`) for a draft. */
  load(
    workflowId: string,
    version?: number,
  ): Promise<{ readonly version: number; readonly plan: Plan }>;
}

/** With what an execution goes on. */
export interface Resumption {
  readonly callerToken?: string;
  /** In place of the former budget, within that of the flow. */
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

/** With what an execution within another goes on: the rest of the bounds around it. */
export interface GoingOn extends Rest {
  readonly callerToken?: string;
}

/** Durable executions: what `start` has answered runs to its end, whatever dies meanwhile. */
export interface Engine {
  /** Resolves once the execution is stored; it runs on by itself. */
  start(request: StartRequest): Promise<Execution>;
  /** The execution when it has ended, or as it is when the time is over. */
  wait(
    executionId: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Execution>;
  find(executionId: string): Promise<Execution | undefined>;
  /** All of them, in the order of their start: up to 100,000, so only for those who need each. */
  nodeRuns(executionId: string): Promise<readonly NodeRun[]>;
  /** Some of them, in the order of their start. */
  nodePage(executionId: string, window?: NodeWindow): Promise<NodePage>;
  /** Fault `conflict` (`already_ended`) when it has ended. */
  cancel(executionId: string, by: string): Promise<Execution>;
  /**
   * Goes on from what failed or was cancelled, with the token of whoever asks for it; Fault `conflict`
   * (`not_resumable`, `budget_exceeded`) otherwise.
   */
  resume(executionId: string, asker?: Resumption): Promise<Execution>;
  /** A new execution that takes over every output that does not depend on the node. */
  rerun(
    executionId: string,
    options: {
      readonly fromNode: string;
      readonly inputs?: Readonly<Record<string, unknown>>;
      readonly ownerId: string;
      readonly permissions?: readonly string[];
      readonly callerToken?: string;
    },
  ): Promise<Execution>;
  /** Ends a parked node with this answer; false when nothing waits there. */
  signal(
    at: { readonly executionId: string; readonly nodeId: string; readonly iteration: string },
    answer: SignalAnswer,
  ): Promise<boolean>;
  /** Events behind `after`, oldest first, then new ones until the execution has ended. */
  follow(executionId: string, after: number, signal: AbortSignal): AsyncIterable<ExecutionEvent>;
  /** Told of each execution that ends on this replica, after it is stored; at least once over crashes. */
  onEnded(listener: (execution: Execution) => Promise<void>): void;
}

/** Which nodes of an execution are asked for; all without any. */
export interface NodeFilter {
  readonly nodeId?: string;
  readonly iteration?: string;
  readonly status?: NodeRun['status'];
}

/** Which of them, in the order of their start: the newest, or so many behind an offset. */
export interface NodeWindow {
  readonly filter?: NodeFilter;
  /** From the newest back when absent. */
  readonly offset?: number;
  /** No more than these; all when absent. */
  readonly limit?: number;
  /** Of their outputs together; one node is always there. No bound when absent. */
  readonly bytesMax?: number;
}

/** Some nodes of an execution, in the order of their start. */
export interface NodePage {
  readonly nodes: readonly NodeRun[];
  /** Of all that match. */
  readonly total: number;
}
