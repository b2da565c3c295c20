import type { Plan, PlannedNode } from '../flow/plan.ts';
import type { Complexity, FlowFacts } from './workflow.ts';

/** How often a loop's body is taken to run where nothing is known of its items. */
const roundsAssumed = 5;
const simplePointsMax = 6;
const intermediatePointsMax = 16;
const msMax = 2_147_483_647;

/** Components that park an execution or start another one. */
const parking = new Set(['Wait', 'Approval', 'SubWorkflow']);

/**
 * What a flow is like. Its complexity counts a point for every node, another for each that acts on the
 * world, three more for a loop, a parallel and each that waits or starts another workflow, and one for
 * every edge that is taken only sometimes: `simple` up to 6, `intermediate` up to 16.
 */
export function factsOf(plan: Plan): FlowFacts {
  return {
    components: plan.nodes.size,
    complexity: complexityOf(plan),
    typicalMs: Math.min(typicalMsOf(plan), msMax),
  };
}

function complexityOf({ nodes, flow }: Plan): Complexity {
  let points = flow.edges.filter((edge) => edge.condition ?? edge.sourceHandle).length;
  for (const { component } of nodes.values()) {
    points += 1;
    if (component.effect === 'once') points += 1;
    if (component.control !== undefined || parking.has(component.name)) points += 3;
  }
  if (points <= simplePointsMax) return 'simple';
  return points <= intermediatePointsMax ? 'intermediate' : 'advanced';
}

/** Milliseconds along the longest way through the flow. */
export function typicalMsOf(plan: Plan): number {
  const doneAt = new Map<string, number>();
  const openIds = [...plan.nodes.keys()];
  // Its own stack: a chain may be longer than the call stack is deep.
  while (openIds.length > 0) {
    const id = openIds.at(-1) ?? '';
    const node = plan.nodes.get(id);
    if (node === undefined || doneAt.has(id)) {
      openIds.pop();
      continue;
    }
    const missing = predecessorsOf(node).filter((before) => !doneAt.has(before));
    if (missing.length > 0) {
      openIds.push(...missing);
      continue;
    }
    doneAt.set(id, endOf(node, plan, doneAt));
    openIds.pop();
  }
  return Math.max(0, ...doneAt.values());
}

/** A loop ends after its body's rounds, of which only the first is on the way that is walked here. */
function endOf(node: PlannedNode, plan: Plan, doneAt: ReadonlyMap<string, number>): number {
  const startMs = Math.max(0, ...predecessorsOf(node).map((id) => doneAt.get(id) ?? 0));
  const bodyIds = node.body?.nodeIds ?? [];
  const roundMs = bodyIds.reduce((sum, id) => sum + ownMs(plan.nodes.get(id)), 0);
  return startMs + ownMs(node) + roundMs * roundsAssumed;
}

function predecessorsOf({ incoming }: PlannedNode): string[] {
  return incoming.map(({ source }) => source);
}

function ownMs(node: PlannedNode | undefined): number {
  return node?.component.typicalMs ?? 0;
}
