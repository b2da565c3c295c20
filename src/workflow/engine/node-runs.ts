import type { Usage } from '../components/component.ts';
import type { ExecutionEvent, ExecutionStatus, NodeRun } from './execution.ts';
import { nodeKey, type NodeEntry } from './journal-row.ts';
import { openNodes } from './open-nodes.ts';
import { readShownOutput } from './output-secrets.ts';

type StoredEvent = Omit<ExecutionEvent, 'executionId'>;

/**
 * How the nodes of an execution stand, in the order of their start. Nodes that run have no row yet:
 * they are known by their last event.
 */
export function nodeRunsOf(
  status: ExecutionStatus,
  entries: readonly NodeEntry[],
  events: readonly StoredEvent[],
): NodeRun[] {
  const written = new Set(entries.map(({ nodeId, iteration }) => nodeKey(nodeId, iteration)));
  const isOpen = status === 'running' || status === 'queued' || status === 'waiting';
  const shown = (run: NodeRun): NodeRun =>
    run.status === 'waiting' && !isOpen ? { ...run, status: 'cancelled' } : run;
  const runs = entries
    .toSorted((a, b) => a.body.place - b.body.place)
    .map((entry) => ({ startedAtMs: entry.body.startedAtMs, run: shown(toRun(entry)) }));
  for (const { event, attempt } of openNodes(events).values()) {
    const { nodeId = '', iteration = '', timestamp } = event;
    if (written.has(nodeKey(nodeId, iteration))) continue;
    const startedAtMs = Date.parse(timestamp);
    const run: NodeRun = {
      nodeId,
      iteration,
      status: isOpen ? 'running' : 'cancelled',
      attempt,
      startedAtMs,
    };
    runs.push({ startedAtMs, run });
  }
  // Rows of one millisecond stay in the order of their places.
  return runs.toSorted((a, b) => a.startedAtMs - b.startedAtMs).map(({ run }) => run);
}

function toRun({ nodeId, iteration, status, output, body }: NodeEntry): NodeRun {
  const { attempt, startedAtMs, duration, handle, error, usage, detail } = body;
  const { entityCreated, wakeAtMs, reason } = body;
  const hasOutput = status === 'completed' || status === 'continued';
  return {
    nodeId,
    iteration,
    status: shownStatus(status),
    attempt,
    startedAtMs,
    ...(duration === undefined || isParked(status) ? {} : { duration }),
    ...(hasOutput ? { output: readShownOutput(output) } : {}),
    ...(handle === undefined ? {} : { handle }),
    ...(error ? { error } : {}),
    ...(usage ? shownUsage(usage) : {}),
    ...(entityCreated ? { entityCreated } : {}),
    ...(wakeAtMs === undefined ? {} : { wakeAtMs }),
    ...(reason === undefined ? {} : { reason }),
    ...(detail ? { detail } : {}),
  };
}

function shownUsage({ model, promptTokens, completionTokens, cost }: Usage) {
  const known = model === undefined ? {} : { modelUsed: model };
  return { ...known, tokensUsed: promptTokens + completionTokens, cost };
}

function isParked(status: NodeEntry['status']): boolean {
  return status === 'waiting' || status === 'signalled';
}

function shownStatus(status: NodeEntry['status']): NodeRun['status'] {
  if (status === 'signalled') return 'waiting';
  return status === 'continued' ? 'failed' : status;
}
