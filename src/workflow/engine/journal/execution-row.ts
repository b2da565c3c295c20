import type { Callbacks, Execution, InputUses, StartRequest, Trigger } from '../execution.ts';
import type { ExecutionStatus } from '../execution.ts';
import type { Outcome } from './journal-row.ts';

/** What a start asked for beyond the columns; kept as one JSON text. */
export interface StoredRequest {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly inputUses?: InputUses;
  readonly pinned?: Readonly<Record<string, unknown>>;
  /** JSON, sealed: the inputs of a flow with secret settings; `inputs` is empty then. */
  readonly sealedInputs?: string;
  /** Of what components ask for, what whoever started it held. */
  readonly permissions?: readonly string[];
  readonly timeoutMs?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly traceparent?: string;
  readonly parent?: StartRequest['parent'];
  /** What the execution around it has counted of it, before it was resumed with that. */
  readonly counted?: { readonly tokens: number; readonly cost: number };
  readonly callbacks?: Omit<Callbacks, 'secret'>;
  /** Sealed. */
  readonly callbackSecret?: string;
}

/** An execution as it is stored. */
export interface StoredExecution {
  readonly id: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly trigger: Trigger;
  readonly ownerId: string;
  readonly idempotencyKey?: string;
  readonly request: StoredRequest;
  /** Sealed. */
  readonly callerToken?: string;
  readonly batch?: { readonly id: string; readonly index: number };
  readonly replica?: string;
  readonly epoch: number;
  readonly signals: number;
  /** How often it was resumed after it had ended. */
  readonly resumes: number;
  readonly startedAtMs: number;
  readonly deadlineAtMs?: number;
  readonly wakeAtMs?: number;
  readonly completedAtMs?: number;
  readonly tokensUsed: number;
  readonly cost: number;
  readonly outcome?: Outcome;
}

export interface ExecutionRow {
  readonly id: string;
  readonly workflow_id: string;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly cause: Trigger;
  readonly owner_id: string;
  readonly idempotency_key: string | null;
  readonly request: string;
  readonly caller_token: string | null;
  readonly batch_id: string | null;
  readonly batch_index: number | null;
  readonly parent_id: string | null;
  readonly replica: string | null;
  readonly epoch: number;
  readonly signals: number;
  readonly resumes: number;
  readonly started_at: Date;
  readonly deadline_at: Date | null;
  readonly wake_at: Date | null;
  readonly completed_at: Date | null;
  readonly tokens_used: number;
  readonly cost: number;
  readonly outcome: string | null;
}

/** Of `ExecutionRow`. */
export const executionColumns = `id, workflow_id, version, status, cause, owner_id, idempotency_key,
  request, caller_token, batch_id, batch_index, parent_id, replica, epoch, signals, resumes, started_at,
  deadline_at, wake_at, completed_at, tokens_used, cost, outcome`;

/** A new execution as `json_to_recordset` takes it. */
export function toStartRow(execution: StoredExecution) {
  const { batch, request, deadlineAtMs, startedAtMs } = execution;
  return {
    id: execution.id,
    workflow_id: execution.workflowId,
    version: execution.version,
    status: execution.status,
    cause: execution.trigger,
    owner_id: execution.ownerId,
    idempotency_key: execution.idempotencyKey,
    request: JSON.stringify(request),
    caller_token: execution.callerToken,
    batch_id: batch?.id,
    batch_index: batch?.index,
    parent_id: request.parent?.executionId,
    replica: execution.replica,
    epoch: execution.epoch,
    started_at: new Date(startedAtMs),
    deadline_at: deadlineAtMs === undefined ? undefined : new Date(deadlineAtMs),
  };
}

/** The columns of `toStartRow` and their types. */
export const startColumns = `id, workflow_id, version, status, cause, owner_id, idempotency_key,
  request, caller_token, batch_id, batch_index, parent_id, replica, epoch, started_at, deadline_at`;
export const startColumnTypes = `id text, workflow_id text, version integer, status text, cause text,
  owner_id text, idempotency_key text, request text, caller_token text, batch_id text,
  batch_index integer, parent_id text, replica text, epoch integer, started_at timestamptz,
  deadline_at timestamptz`;

/** Reads what this service has written. */
export function toStored(row: ExecutionRow): StoredExecution {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    version: row.version,
    status: row.status,
    trigger: row.cause,
    ownerId: row.owner_id,
    // Written by `toStartRow`.
    request: JSON.parse(row.request) as StoredRequest,
    epoch: row.epoch,
    signals: row.signals,
    resumes: row.resumes,
    startedAtMs: row.started_at.getTime(),
    tokensUsed: row.tokens_used,
    cost: row.cost,
    ...(row.idempotency_key === null ? {} : { idempotencyKey: row.idempotency_key }),
    ...(row.caller_token === null ? {} : { callerToken: row.caller_token }),
    ...(row.batch_id === null ? {} : { batch: { id: row.batch_id, index: row.batch_index ?? 0 } }),
    ...(row.replica === null ? {} : { replica: row.replica }),
    ...(row.deadline_at === null ? {} : { deadlineAtMs: row.deadline_at.getTime() }),
    ...(row.wake_at === null ? {} : { wakeAtMs: row.wake_at.getTime() }),
    ...(row.completed_at === null ? {} : { completedAtMs: row.completed_at.getTime() }),
    ...(row.outcome === null ? {} : { outcome: JSON.parse(row.outcome) as Outcome }),
  };
}

/** The execution as others see it, without its callbacks. */
export function toExecution(stored: StoredExecution): Execution {
  const { request, outcome, batch, completedAtMs } = stored;
  return {
    id: stored.id,
    workflowId: stored.workflowId,
    version: stored.version,
    status: stored.status,
    trigger: stored.trigger,
    ownerId: stored.ownerId,
    inputs: request.inputs,
    startedAtMs: stored.startedAtMs,
    tokensUsed: stored.tokensUsed,
    cost: stored.cost,
    ...(completedAtMs === undefined ? {} : { completedAtMs }),
    ...(outcome?.result ? { result: outcome.result } : {}),
    ...(outcome?.error ? { error: outcome.error } : {}),
    ...(outcome?.retryable === undefined ? {} : { retryable: outcome.retryable }),
    ...(batch ? { batch } : {}),
    ...(request.parent ? { parent: request.parent } : {}),
  };
}
