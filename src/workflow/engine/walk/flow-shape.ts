import type { Plan, PlannedEdge, PlannedNode } from '../../flow/plan.ts';

/** A node as a walk needs it; the same for all executions of a plan. */
export interface NodeShape {
  readonly planned: PlannedNode;
  /** Edges from nodes of the same frame. */
  readonly incoming: readonly PlannedEdge[];
  /** Edges from the Loop whose body it lies in. */
  readonly fromLoop: readonly PlannedEdge[];
  /** Edges to nodes of the same frame. */
  readonly outgoing: readonly PlannedEdge[];
  /** Parallels that it refers to, for whose end it waits. */
  readonly awaits: readonly string[];
}

/** Nodes by the Loop whose round they are a part of; the whole flow is the frame `''`. */
export type FlowShape = ReadonlyMap<string, readonly NodeShape[]>;

const shapes = new WeakMap<Plan, FlowShape>();

/** The frames of a plan, worked out once. */
export function shapeOf(plan: Plan): FlowShape {
  const known = shapes.get(plan);
  if (known) return known;
  const frames = new Map<string, NodeShape[]>();
  for (const planned of plan.nodes.values()) {
    const frame = planned.loopId ?? '';
    const shape = shapeNode(plan, planned);
    const nodes = frames.get(frame);
    if (nodes) nodes.push(shape);
    else frames.set(frame, [shape]);
  }
  shapes.set(plan, frames);
  return frames;
}

function shapeNode(plan: Plan, planned: PlannedNode): NodeShape {
  const { loopId, node } = planned;
  const isBeside = (id: string) => plan.nodes.get(id)?.loopId === loopId && id !== node.id;
  const awaits = planned.references.filter((id) => {
    const named = plan.nodes.get(id);
    const isParallel = named?.component.control === 'parallel' && isBeside(id);
    return isParallel && !named.tasks?.includes(node.id);
  });
  return {
    planned,
    incoming: planned.incoming.filter(({ source }) => isBeside(source)),
    fromLoop: planned.incoming.filter(({ source }) => source === loopId),
    outgoing: planned.outgoing.filter(({ target }) => isBeside(target)),
    awaits: [...new Set(awaits)],
  };
}
