import type { NodeError } from '../engine/execution.ts';

export const batchStatuses = ['processing', 'cancelling', 'completed', 'cancelled'] as const;
export type BatchStatus = (typeof batchStatuses)[number];

export const itemStatuses = [
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const;
export type ItemStatus = (typeof itemStatuses)[number];

/** What a failed item does to the rest: nothing, or what runs is cancelled and the rest skipped. */
export type FailureMode = 'continue' | 'stop';

/** Many executions of one version of a workflow. */
export interface Batch {
  readonly id: string;
  readonly workflowId: string;
  readonly version: number;
  readonly ownerId: string;
  /** Of what components ask for, what the owner held at the start. */
  readonly permissions: readonly string[];
  readonly status: BatchStatus;
  readonly concurrency: number;
  readonly failureMode: FailureMode;
  /** Sealed. */
  readonly progressCallback: string | undefined;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  /** Of the newest event. */
  readonly lastSeq: number;
  readonly tokensUsed: number;
  /** US dollars. */
  readonly cost: number;
  /** How often it changed hands. */
  readonly epoch: number;
  readonly createdAt: Date;
  readonly resumedAt: Date;
  readonly completedAt: Date | undefined;
}

/** One input of a batch and what came of it. */
export interface BatchItem {
  readonly index: number;
  readonly status: ItemStatus;
  readonly executionId: string | undefined;
  readonly error: ItemError | undefined;
  /** Of its end. */
  readonly seq: number | undefined;
  readonly endedAt: Date | undefined;
}

/** Why an item failed; without a node when its execution did not even start. */
export type ItemError = Pick<NodeError, 'message' | 'code'> & Partial<NodeError>;

/** An item that is to be run. */
export interface ItemTask {
  readonly index: number;
  /** Sealed when it is a text. */
  readonly inputs: Readonly<Record<string, unknown>> | string;
}

/** An item that ended. */
export interface ItemEnd {
  readonly index: number;
  readonly status: Extract<ItemStatus, 'completed' | 'failed' | 'cancelled'>;
  readonly executionId: string | undefined;
  readonly error: ItemError | undefined;
  readonly tokensUsed: number;
  readonly cost: number;
}

/** What replicas tell each other: there are new events, or it is to be cancelled. */
export interface BatchNews {
  readonly batchId: string;
  readonly kind: 'progress' | 'cancel';
}

/** Where replicas tell of their batches. */
export const batchTopic = 'workflow.batches';
