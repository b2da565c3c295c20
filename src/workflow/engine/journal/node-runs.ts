import type { Usage } from '../../components/component.ts';
import type { ExecutionStatus, NodeRun } from '../execution.ts';
import type { NodeBody, NodeEntry, NodeStatus } from './journal-row.ts';
import type { OpenNode } from './open-nodes.ts';
import { readShownOutput } from './output-secrets.ts';

/** Whether an execution may still go on by itself. */
export function isUnderWay(status: ExecutionStatus): boolean {
  return status === 'running' || status === 'queued' || status === 'waiting';
}

/** A node as its row tells of it; what an ended execution left waiting was cancelled with it. */
export function toRun(
  { nodeId, iteration, status, output, body }: NodeEntry,
  execution: ExecutionStatus,
): NodeRun {
  const { attempt, startedAtMs, duration, handle, error, usage, entityCreated } = body;
  const hasOutput = status === 'completed' || status === 'continued';
  return {
    nodeId,
    iteration,
    status: shownStatus(status, execution),
    attempt,
    startedAtMs,
    ...(duration === undefined || isParked(status) ? {} : { duration }),
    ...(hasOutput ? { output: readShownOutput(output) } : {}),
    ...(handle === undefined ? {} : { handle }),
    ...(error ? { error } : {}),
    ...(usage ? shownUsage(usage) : {}),
    ...(entityCreated ? { entityCreated } : {}),
    ...shownWait(status, body),
  };
}

function shownWait(status: NodeStatus, { wakeAtMs, reason, detail }: NodeBody) {
  return {
    ...(wakeAtMs === undefined || status === 'open' ? {} : { wakeAtMs }),
    ...(reason === undefined ? {} : { reason }),
    ...(detail ? { detail } : {}),
  };
}

/** A node that runs, which has no row yet: it is known by its last event. */
export function toOpenRun({ event, attempt }: OpenNode, execution: ExecutionStatus): NodeRun {
  const { nodeId = '', iteration = '', timestamp } = event;
  const status = isUnderWay(execution) ? 'running' : 'cancelled';
  return { nodeId, iteration, status, attempt, startedAtMs: Date.parse(timestamp) };
}

const parked: readonly NodeStatus[] = ['waiting', 'signalled', 'open'];

/** The rows that are shown with a status. */
export function rowStatuses(
  status: NodeRun['status'],
  execution: ExecutionStatus,
): readonly NodeStatus[] {
  const all: readonly NodeStatus[] = [
    ...parked,
    'completed',
    'failed',
    'continued',
    'skipped',
    'cancelled',
  ];
  return all.filter((row) => shownStatus(row, execution) === status);
}

function shownUsage({ model, promptTokens, completionTokens, cost }: Usage) {
  const known = model === undefined ? {} : { modelUsed: model };
  return { ...known, tokensUsed: promptTokens + completionTokens, cost };
}

function isParked(status: NodeStatus): boolean {
  return parked.includes(status);
}

function shownStatus(status: NodeStatus, execution: ExecutionStatus): NodeRun['status'] {
  if (status === 'continued') return 'failed';
  if (status !== 'waiting' && status !== 'signalled' && status !== 'open') return status;
  if (!isUnderWay(execution)) return 'cancelled';
  return status === 'open' ? 'running' : 'waiting';
}
