import type { Static } from 'typebox';
import type { workflowContract } from '../../../src/workflow/contract.ts';
import type { Answer } from '../../api/contracts.ts';

/** An execution with its nodes. */
export type Execution = Answer<'workflow', 'GET /api/v1/executions/:executionId'>;
/** One run of a node; in loops a node has one a round. */
export type NodeRun = Execution['nodes'][number];
export type NodeStatus = NodeRun['status'];
export type ExecutionEvent = Static<typeof workflowContract.sockets.executionStream.event>;

const nodeStatuses: Readonly<Record<string, NodeStatus>> = {
  'node-started': 'running',
  'node-retrying': 'running',
  'node-waiting': 'waiting',
  'node-completed': 'completed',
  'node-failed': 'failed',
  'node-skipped': 'skipped',
  'node-cancelled': 'cancelled',
};

/**
 * The execution as it stands after an event of a node. How the execution itself ended is read with its
 * status: one that was resumed tells of its former end too.
 */
export function applyEvent(execution: Execution, event: ExecutionEvent): Execution {
  const status = nodeStatuses[event.type];
  if (status === undefined || event.nodeId === undefined) return execution;
  const nodes = applyToRun(execution.nodes, { ...event, nodeId: event.nodeId, status });
  return { ...execution, nodes };
}

type NodeEvent = ExecutionEvent & { readonly nodeId: string; readonly status: NodeStatus };

function applyToRun(runs: readonly NodeRun[], event: NodeEvent): NodeRun[] {
  const isSame = (run: NodeRun) =>
    run.nodeId === event.nodeId && (run.iteration ?? '') === (event.iteration ?? '');
  const before = runs.find(isSame);
  const after = changeRun(before, event);
  return before ? runs.map((run) => (run === before ? after : run)) : [...runs, after];
}

function changeRun(run: NodeRun | undefined, event: NodeEvent): NodeRun {
  const { nodeId, iteration, status, attempt, duration, output, timestamp } = event;
  const { error: _error, ...known } = run ?? { startedAt: timestamp, attempt: 1 };
  const error = status === 'failed' ? readError(event) : undefined;
  return {
    ...known,
    nodeId,
    status,
    ...(iteration ? { iteration } : {}),
    ...(attempt === undefined ? {} : { attempt }),
    ...(duration === undefined ? {} : { duration }),
    ...(output === undefined ? {} : { output }),
    ...(error ? { error } : {}),
  };
}

function readError({ error }: ExecutionEvent): NodeRun['error'] {
  const { message, code }: { message?: unknown; code?: unknown } = error ?? {};
  if (typeof message !== 'string') return undefined;
  return { message, code: typeof code === 'string' ? code : '' };
}

/** How a node stands over all its rounds. */
export interface NodeState {
  readonly status: NodeStatus;
  /** How often it ran. */
  readonly count: number;
  /** Milliseconds of all its runs; undefined while none has ended. */
  readonly duration: number | undefined;
}

/** What is told of a node when its rounds stand differently: what needs looking after comes first. */
const precedence: readonly NodeStatus[] = [
  'running',
  'waiting',
  'failed',
  'cancelled',
  'completed',
  'skipped',
];

/** How each node that was reached stands, by its id. */
export function statesOf(runs: readonly NodeRun[]): ReadonlyMap<string, NodeState> {
  const states = new Map<string, NodeState>();
  for (const { nodeId, status, duration } of runs) {
    const before = states.get(nodeId);
    states.set(nodeId, {
      status: before ? firstOf(before.status, status) : status,
      count: (before?.count ?? 0) + 1,
      duration: duration === undefined ? before?.duration : duration + (before?.duration ?? 0),
    });
  }
  return states;
}

function firstOf(one: NodeStatus, other: NodeStatus): NodeStatus {
  return precedence.indexOf(one) <= precedence.indexOf(other) ? one : other;
}
