import { Fault } from '../../kit/errors.ts';
import type { Plan, PlannedEdge } from '../flow/plan.ts';
import type { StoredExecution } from './journal/execution-row.ts';
import type { StartRequest, NodeFilter, NodePage } from './execution.ts';
import { isErrorEdge } from './walk/walk-edges.ts';

/** The nodes whose outputs do not depend on a node, so that a re-run from there takes them over. */
export function nodesKept(plan: Plan, fromNode: string): string[] {
  const anew = new Set<string>([outermost(plan, fromNode)]);
  // Parallels that only their ends are made again of: what they run does not depend on those.
  const closed = new Set<string>();
  let count = 0;
  while (count < anew.size + closed.size) {
    count = anew.size + closed.size;
    for (const nodeId of anew) take(nodeId, () => true);
    for (const nodeId of closed) take(nodeId, isErrorEdge);
  }
  return [...plan.nodes.keys()].filter((nodeId) => !anew.has(nodeId) && !closed.has(nodeId));

  function take(nodeId: string, leadsOn: (edge: PlannedEdge) => boolean): void {
    const edges = plan.nodes.get(nodeId)?.outgoing ?? [];
    for (const { target } of edges.filter(leadsOn)) anew.add(target);
    for (const [id, other] of plan.nodes) {
      // The body of a Loop, and what names the node.
      if (other.loopId === nodeId || other.references.includes(nodeId)) anew.add(id);
      if (other.tasks?.includes(nodeId)) closed.add(id);
    }
  }
}

/**
 * Throws `conflict` (`node_not_reached`) for a node that an execution never ran, or skipped: nothing led to
 * it, and nothing would.
 */
export async function requireReached(
  plan: Plan,
  fromNode: string,
  findNodes: (filter: NodeFilter) => Promise<NodePage>,
): Promise<void> {
  const nodeId = outermost(plan, fromNode);
  const { nodes } = await findNodes({ nodeId, iteration: '' });
  if (nodes.some(({ status }) => status !== 'skipped')) return;
  throw new Fault('conflict', 'the execution did not run this node: name one that it ran', {
    reason: 'node_not_reached',
  });
}

/** A start of the same version with the same limits; inputs replace the former ones by key. */
export function rerunRequest(
  before: StoredExecution,
  again: {
    readonly inputs?: Readonly<Record<string, unknown>>;
    readonly ownerId: string;
    readonly permissions?: readonly string[];
    readonly callerToken?: string;
  },
): StartRequest {
  const { inputs, inputUses = {}, timeoutMs, maxTokens, maxCost } = before.request;
  const isReplaced = (key: string) =>
    again.inputs !== undefined && Object.hasOwn(again.inputs, key);
  const uses = Object.entries(inputUses).filter(([key]) => !isReplaced(key));
  return {
    workflowId: before.workflowId,
    version: before.version,
    inputs: { ...inputs, ...again.inputs },
    ...(uses.length > 0 && { inputUses: Object.fromEntries(uses) }),
    ownerId: again.ownerId,
    permissions: again.permissions ?? [],
    trigger: 'api',
    ...(again.callerToken === undefined ? {} : { callerToken: again.callerToken }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
}

/** The Loop outside all loops in which a node lies, or the node. */
function outermost(plan: Plan, nodeId: string): string {
  const planned = plan.nodes.get(nodeId);
  if (!planned) {
    throw new Fault('not_found', 'the flow has no such node', { reason: 'node_not_found' });
  }
  return planned.loopId === undefined ? nodeId : outermost(plan, planned.loopId);
}
