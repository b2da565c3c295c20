import { codes, Fault } from '../../../kit/errors.ts';
import type { ComponentGroup, Usage } from '../../components/component.ts';
import { SpentFault } from '../../components/spent-fault.ts';
import type { NodeError } from '../execution.ts';

/** Why a node failed, in words for the caller. */
export interface NodeFailure {
  readonly error: Omit<NodeError, 'nodeId' | 'attempt'>;
  /** Whether the same again may end better. */
  readonly isRetryable: boolean;
  /** How long it asks to be left alone before another attempt. */
  readonly askedMs?: number;
  /** What it cost all the same. */
  readonly usage?: Usage;
}

/** What a thrown value means for the node; a model that is late is `MODEL_TIMEOUT`. */
export function failureOf(thrown: unknown, group?: ComponentGroup): NodeFailure {
  const fault = Fault.from(thrown);
  const isRetryable = codes[fault.code].retryable;
  const error = { message: fault.message, code: codeOf(fault, group) };
  return {
    error,
    isRetryable,
    ...(fault.retryAfter === undefined ? {} : { askedMs: fault.retryAfter * 1_000 }),
    ...(fault instanceof SpentFault ? { usage: fault.usage } : {}),
  };
}

function codeOf(fault: Fault, group: ComponentGroup | undefined): string {
  const { code, reason } = fault;
  if (code === 'deadline' && group === 'ai' && fault !== overdue) return 'MODEL_TIMEOUT';
  return (reason ?? code).toUpperCase();
}

/** Codes of failures that come from no Fault and may end better another time. */
const retryableCodes: ReadonlySet<string> = new Set(
  Object.entries(codes)
    .filter(([, { retryable }]) => retryable)
    .map(([code]) => code.toUpperCase()),
);

/** Whether a failure that is known by its code alone may end better another time. */
export function isRetryableCode(code: string): boolean {
  return retryableCodes.has(code) || code.endsWith('_TIMEOUT');
}

/** Of an execution that can neither go on nor end. */
export const deadlock: NodeError = {
  nodeId: '',
  attempt: 1,
  message: 'nodes of the flow wait for each other',
  code: 'DEADLOCK',
};

/** Of a node that took longer than its own timeout. */
export function late(timeoutMs: number): Fault {
  const reason = 'node_timeout';
  return new Fault('deadline', `the node took longer than ${timeoutMs} ms`, { reason });
}

/** What stops a node because the time of its whole execution is over. */
export const overdue = new Fault('deadline', 'the execution took longer than its timeout', {
  reason: 'workflow_timeout',
});

/** Of an execution whose time is over while it is at a node. */
export function overdueAt(nodeId: string): NodeError {
  return { nodeId, attempt: 1, ...failureOf(overdue).error };
}
