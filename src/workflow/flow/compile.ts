import { Fault } from '../../kit/errors.ts';
import type { ComponentTable } from '../components/component.ts';
import { idsReadBy } from './expressions/references.ts';
import type { Flow } from './flow.ts';
import { readWholeFlow } from './flow-reading.ts';
import type { FlowReading, ReadEdge, ReadNode } from './reading.ts';
import { leadsToTask } from './task-edges.ts';
import type { GraphEdge } from './cycles.ts';
import type { Plan, PlannedEdge, PlannedNode } from './plan.ts';
import type { Settings } from './settings.ts';

/** The plan of a flow. Fault `invalid` (`invalid_flow`) with all `faults` when it has any. */
export function compilePlan(flow: Flow, components: ComponentTable): Plan {
  const reading = readWholeFlow(flow, components);
  if (reading.faults.isAny || !('graph' in reading)) throw flowFault(reading.faults.list());
  const { graph } = reading;
  const edges = new Map(
    graph.edges.map((end) => [end.index, planEdge(reading.edges.get(end.index))]),
  );
  const ground: PlanGround = {
    reading,
    edgesOf: (ends) => pickEdges(ends, edges),
    leaving: groupBySource(graph.edges),
  };
  const nodes = new Map<string, PlannedNode>();
  for (const [place, read] of reading.nodes.entries()) {
    if (read) nodes.set(read.node.id, planNode(place, read, ground));
  }
  const outside = graph.ids.flatMap((id, place) =>
    graph.loopOf.has(place) ? [] : [{ id, place }],
  );
  return {
    flow,
    nodes,
    roots: outside.filter(({ place }) => !graph.incoming[place]?.length).map(({ id }) => id),
    ends: outside.filter(({ place }) => isEnd(place, reading)).map(({ id }) => id),
    inputNames: namesOfInputs(reading),
  };
}

/** The fault of a flow that cannot be run. */
export function flowFault(faults: readonly { readonly message: string }[]): Fault {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} further faults)` : '';
  const message = `the flow is not valid: ${first?.message ?? ''}${more}`;
  return new Fault('invalid', message, { reason: 'invalid_flow', detail: { faults } });
}

interface PlanGround {
  readonly reading: FlowReading;
  readonly edgesOf: (ends: readonly GraphEdge[]) => readonly PlannedEdge[];
  /** Edges by their source, those that lead back to Loops included. */
  readonly leaving: ReadonlyMap<number, readonly GraphEdge[]>;
}

function planNode(place: number, read: ReadNode, ground: PlanGround): PlannedNode {
  const { reading, edgesOf, leaving } = ground;
  const { graph } = reading;
  const { node, component, settings } = read;
  const loop = graph.loopOf.get(place);
  const outgoing = leaving.get(place) ?? [];
  return {
    node,
    component,
    incoming: edgesOf(graph.incoming[place] ?? []),
    outgoing: edgesOf(outgoing),
    ...(loop === undefined ? {} : { loopId: graph.ids[loop] ?? '' }),
    ...bodyOf(place, reading, edgesOf),
    ...(component.control === 'parallel' ? { tasks: tasksOf(place, reading) } : {}),
    references: [...referencesOf(place, settings, ground)],
    render: (scope, inputs, how) => settings.render(scope, inputs, how),
  };
}

function bodyOf(
  place: number,
  reading: FlowReading,
  edgesOf: PlanGround['edgesOf'],
): Pick<PlannedNode, 'body'> {
  const { bodies, loopOf, ids } = reading.graph;
  const body = bodies.get(place);
  if (!body) return {};
  const direct = [...body.members].filter((member) => loopOf.get(member) === place);
  const nodeIds = direct.toSorted((a, b) => a - b).map((member) => ids[member] ?? '');
  return { body: { nodeIds, back: edgesOf(body.back) } };
}

function tasksOf(place: number, { graph, flow }: FlowReading): readonly string[] {
  const tasks = (graph.outgoing[place] ?? []).filter((end) => leadsToTask(flow, end));
  return [...new Set(tasks.map(({ target }) => graph.ids[target] ?? ''))];
}

function referencesOf(
  place: number,
  { expressions }: Settings,
  { reading: { edges, graph }, leaving }: PlanGround,
): ReadonlySet<string> {
  const isInLoop = graph.loopOf.has(place);
  const found = new Set(
    expressions.flatMap(({ references }) => (references ? idsReadBy(references, isInLoop) : [])),
  );
  for (const { index, target } of leaving.get(place) ?? []) {
    const { condition } = edges.get(index) ?? {};
    if (!condition) continue;
    const isBodyEdge = graph.bodies.get(place)?.members.has(target) === true;
    for (const id of idsReadBy(condition.references, isInLoop || isBodyEdge)) {
      if (id !== graph.ids[place]) found.add(id);
    }
  }
  return found;
}

function isEnd(place: number, { graph }: FlowReading): boolean {
  const members = graph.bodies.get(place)?.members;
  return (graph.outgoing[place] ?? []).every(({ target }) => members?.has(target) === true);
}

function namesOfInputs({ nodes, edges, graph }: FlowReading): readonly string[] {
  const names = new Set<string>();
  const ids = new Set(graph.ids);
  const settings = nodes.flatMap((read) => read?.settings.expressions ?? []);
  const conditions = [...edges.values()].flatMap(({ condition }) => (condition ? [condition] : []));
  for (const { references } of [...settings, ...conditions]) {
    for (const name of references?.inputs ?? []) if (!ids.has(name)) names.add(name);
  }
  return [...names];
}

function groupBySource(edges: readonly GraphEdge[]): ReadonlyMap<number, readonly GraphEdge[]> {
  const groups = new Map<number, GraphEdge[]>();
  for (const edge of edges) {
    const group = groups.get(edge.source);
    if (group) group.push(edge);
    else groups.set(edge.source, [edge]);
  }
  return groups;
}

function planEdge(read: ReadEdge | undefined): PlannedEdge {
  const { edge, condition } = read ?? { edge: { source: '', target: '' } };
  const { source, target, sourceHandle } = edge;
  return {
    source,
    target,
    ...(sourceHandle === undefined ? {} : { sourceHandle }),
    isOpen: (scope) => condition?.holds(scope) ?? true,
  };
}

function pickEdges(
  ends: readonly GraphEdge[],
  edges: ReadonlyMap<number, PlannedEdge>,
): readonly PlannedEdge[] {
  return ends.flatMap(({ index }) => edges.get(index) ?? []);
}
