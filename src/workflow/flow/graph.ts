import { findCycles, type GraphEdge } from './cycles.ts';
import type { FlowFault } from './flow.ts';
import { flowLimits } from './limits.ts';

/** The body of a Loop. */
export interface LoopBody {
  /** Nodes in it, those of loops within included. */
  readonly members: ReadonlySet<number>;
  /** Edges that lead back. */
  readonly back: readonly GraphEdge[];
}

/** How a flow hangs together. */
export interface Graph {
  readonly ids: readonly string[];
  readonly edges: readonly GraphEdge[];
  readonly bodies: ReadonlyMap<number, LoopBody>;
  /** The innermost Loop around a node. */
  readonly loopOf: ReadonlyMap<number, number>;
  /** Without the edges that lead back to Loops. */
  readonly incoming: readonly (readonly GraphEdge[])[];
  readonly outgoing: readonly (readonly GraphEdge[])[];
  /** Every node behind all that lead to it; those in or behind a cycle outside Loops are left out. */
  readonly order: readonly number[];
}

export interface GraphInput {
  readonly ids: readonly string[];
  readonly edges: readonly GraphEdge[];
  readonly isLoop: (node: number) => boolean;
}

/** Finds loops and their bodies, and what is wrong with them: cycles without a Loop foremost. */
export function readGraph(input: GraphInput): { graph: Graph; faults: FlowFault[] } {
  const reader = new LoopReader(input);
  reader.read();
  const { ids, edges } = input;
  const forward = edges.filter((edge) => !reader.removed.has(edge));
  const incoming: GraphEdge[][] = ids.map(() => []);
  const outgoing: GraphEdge[][] = ids.map(() => []);
  for (const edge of forward) {
    incoming[edge.target]?.push(edge);
    outgoing[edge.source]?.push(edge);
  }
  const order = sortByEdges(incoming, outgoing);
  const { bodies, loopOf } = reader;
  const faults = [...reader.faults, ...findUnreached(input, order, reader.cyclic)];
  return { graph: { ids, edges, bodies, loopOf, incoming, outgoing, order }, faults };
}

function sortByEdges(
  incoming: readonly (readonly GraphEdge[])[],
  outgoing: readonly (readonly GraphEdge[])[],
): readonly number[] {
  const open = incoming.map((edges) => edges.length);
  const order = open.flatMap((count, node) => (count === 0 ? [node] : []));
  // The list grows while it is walked.
  for (const node of order) {
    for (const { target } of outgoing[node] ?? []) {
      const left = (open[target] ?? 0) - 1;
      open[target] = left;
      if (left === 0) order.push(target);
    }
  }
  return order;
}

function findUnreached(
  { ids }: GraphInput,
  order: readonly number[],
  cyclic: ReadonlySet<number>,
): FlowFault[] {
  const reached = new Set(order);
  return ids.flatMap((nodeId, node) => {
    if (reached.has(node) || cyclic.has(node)) return [];
    return [{ code: 'UNREACHABLE_NODE', message: `nothing can ever lead to ${nodeId}`, nodeId }];
  });
}

/** Takes cycles apart: each must lead back to one Loop, and be entered and left through it only. */
class LoopReader {
  readonly bodies = new Map<number, LoopBody>();
  readonly loopOf = new Map<number, number>();
  readonly removed = new Set<GraphEdge>();
  /** Nodes in cycles without a Loop. */
  readonly cyclic = new Set<number>();
  readonly faults: FlowFault[] = [];
  readonly #input: GraphInput;

  constructor(input: GraphInput) {
    this.#input = input;
  }

  read(): void {
    const { ids, isLoop } = this.#input;
    this.#readRegion(new Set(ids.keys()), undefined, 0);
    for (const [node, nodeId] of ids.entries()) {
      if (!isLoop(node) || this.cyclic.has(node) || this.bodies.get(node)?.members.size) continue;
      const message = `the Loop ${nodeId} has no body: some edge behind it must lead back to it`;
      this.faults.push({ code: 'LOOP_WITHOUT_BODY', message, nodeId });
    }
  }

  #readRegion(region: ReadonlySet<number>, around: number | undefined, depth: number): void {
    const edges = this.#input.edges.filter(
      (edge) => region.has(edge.source) && region.has(edge.target) && !this.removed.has(edge),
    );
    for (const cycle of findCycles(region, edges)) this.#readCycle(cycle, around, depth);
  }

  #readCycle(cycle: ReadonlySet<number>, around: number | undefined, depth: number): void {
    const loop = this.#loopOfCycle(cycle, around);
    if (loop === undefined) return this.#refuseCycle(cycle);
    const members = new Set([...cycle].filter((node) => node !== loop));
    const back = this.#input.edges.filter(
      ({ source, target }) => target === loop && cycle.has(source),
    );
    this.bodies.set(loop, { members, back });
    for (const edge of back) this.removed.add(edge);
    for (const node of members) this.loopOf.set(node, loop);
    this.#checkBorder(loop, members, around);
    if (depth < flowLimits.loopDepth) return this.#readRegion(members, loop, depth + 1);
    const nodeId = this.#id(loop);
    const message = `at most ${flowLimits.loopDepth} loops may lie within each other`;
    this.faults.push({ code: 'LOOP_TOO_DEEP', message, nodeId });
  }

  /** The Loop through which the cycle is entered; without an entry the one that encloses the others. */
  #loopOfCycle(cycle: ReadonlySet<number>, around: number | undefined): number | undefined {
    const loops = [...cycle].filter((node) => this.#input.isLoop(node));
    if (loops.length < 2) return loops[0];
    const entered = new Set(this.#entries(cycle, around).map(({ target }) => target));
    const gates = loops.filter((node) => entered.has(node));
    if (gates.length > 0) return gates[0];
    return loops.find((loop) => this.#encloses(loop, cycle, loops)) ?? loops[0];
  }

  #encloses(loop: number, cycle: ReadonlySet<number>, loops: readonly number[]): boolean {
    const region = new Set([...cycle].filter((node) => node !== loop));
    const edges = this.#input.edges.filter(
      ({ source, target }) => region.has(source) && region.has(target),
    );
    const inner = new Set(findCycles(region, edges).flatMap((within) => [...within]));
    return loops.every((other) => other === loop || inner.has(other));
  }

  /** Edges into the cycle, less those that were told of as edges into the loop around it. */
  #entries(cycle: ReadonlySet<number>, around: number | undefined): readonly GraphEdge[] {
    const region = around === undefined ? undefined : this.bodies.get(around)?.members;
    const isNear = (node: number) => region === undefined || node === around || region.has(node);
    return this.#input.edges.filter(
      ({ source, target }) => cycle.has(target) && !cycle.has(source) && isNear(source),
    );
  }

  #checkBorder(loop: number, members: ReadonlySet<number>, around: number | undefined): void {
    const name = this.#id(loop);
    for (const { index, source, target } of this.#entries(members, around)) {
      if (source === loop) continue;
      const message = `the edge leads into the body of the Loop ${name} from outside; lead it to ${name}`;
      this.faults.push({ code: 'LOOP_ENTRY', message, nodeId: this.#id(target), edge: index });
    }
    for (const { index, source, target } of this.#input.edges) {
      if (!members.has(source) || members.has(target) || target === loop) continue;
      // It leaves the loop around it as well, which has been told of.
      if (around !== undefined && !this.#isWithin(target, around)) continue;
      const message = `the edge leaves the body of the Loop ${name}; lead it back to ${name}, and go on from there`;
      this.faults.push({ code: 'LOOP_EXIT', message, nodeId: this.#id(source), edge: index });
    }
  }

  #isWithin(node: number, loop: number): boolean {
    return node === loop || this.bodies.get(loop)?.members.has(node) === true;
  }

  #refuseCycle(cycle: ReadonlySet<number>): void {
    for (const node of cycle) this.cyclic.add(node);
    const nodes = [...cycle].map((node) => this.#id(node));
    const shown = nodes.slice(0, 10).join(', ') + (nodes.length > 10 ? ', …' : '');
    const leads = nodes.length === 1 ? 'leads back to itself' : 'lead back to themselves';
    const message = `${shown} ${leads}; only a Loop may be led back to`;
    this.faults.push({ code: 'CYCLE', message, nodeId: nodes[0] ?? '' });
  }

  #id(node: number): string {
    return this.#input.ids[node] ?? '';
  }
}
