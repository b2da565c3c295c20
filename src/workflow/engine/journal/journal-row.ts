import type { Usage } from '../../components/component.ts';
import type { ExecutionEvent, ExecutionStatus, NodeError, NodeRun } from '../execution.ts';

/** How a node stands in the journal; a running one has no row unless it is `open`. */
export type NodeStatus =
  | 'waiting'
  | 'signalled'
  /** A Loop or a Parallel that has begun. */
  | 'open'
  | 'completed'
  | 'failed'
  | 'continued'
  | 'skipped'
  | 'cancelled';

/** What is known of a node besides its status and output; kept as one JSON text. */
export interface NodeBody {
  /** Orders nodes by their start. */
  readonly place: number;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly duration?: number;
  readonly handle?: string;
  readonly error?: NodeRun['error'];
  readonly usage?: Usage;
  readonly entityCreated?: Readonly<Record<string, unknown>>;
  readonly reason?: 'wait' | 'approval' | 'child';
  readonly wakeAtMs?: number;
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Something around it went on without it: it was ended with that, or ended that by its failure. */
  readonly isDropped?: true;
}

/** One node of an execution in one iteration. */
export interface NodeEntry {
  readonly nodeId: string;
  readonly iteration: string;
  readonly status: NodeStatus;
  /** JSON. */
  readonly output: string | undefined;
  readonly body: NodeBody;
}

/** How an execution goes on after a write: it ends, it waits, or it is given back to the queue. */
export interface StatusChange {
  readonly status: ExecutionStatus;
  readonly tokensUsed: number;
  readonly cost: number;
  readonly wakeAtMs?: number;
  /** Signals that the run has seen; when more came it is queued in place of waiting. */
  readonly signals: number;
  readonly completedAtMs?: number;
  readonly outcome?: Outcome;
  readonly tellAtMs?: number;
}

/** How an execution ended; kept as one JSON text. */
export interface Outcome {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: NodeError;
  readonly retryable?: boolean;
  readonly cancelledBy?: string;
}

/** What a run has to say at one moment; it is taken whole or not at all. */
export interface JournalEntry {
  readonly executionId: string;
  readonly epoch: number;
  readonly nodes: readonly NodeEntry[];
  readonly events: readonly ExecutionEvent[];
  readonly change?: StatusChange;
}

/** A node's place in an execution as a key. */
export function nodeKey(nodeId: string, iteration: string): string {
  return `${iteration}\n${nodeId}`;
}
