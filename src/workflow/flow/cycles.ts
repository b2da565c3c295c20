/**
 * The sets of nodes that can all be reached from each other, less single nodes that do not lead to
 * themselves (Tarjan's algorithm, without recursion). In proportion to nodes and edges.
 */
export function findCycles(
  region: ReadonlySet<number>,
  edges: readonly GraphEdge[],
): readonly ReadonlySet<number>[] {
  const targets = new Map<number, number[]>();
  for (const { source, target } of edges) {
    const known = targets.get(source);
    if (known) known.push(target);
    else targets.set(source, [target]);
  }
  const walk = new CycleWalk(targets);
  for (const node of region) walk.start(node);
  return walk.cycles;
}

interface Visit {
  readonly node: number;
  next: number;
}

class CycleWalk {
  readonly cycles: ReadonlySet<number>[] = [];
  readonly #targets: ReadonlyMap<number, readonly number[]>;
  readonly #numbers = new Map<number, number>();
  readonly #lowest = new Map<number, number>();
  readonly #stack: number[] = [];
  readonly #stacked = new Set<number>();

  constructor(targets: ReadonlyMap<number, readonly number[]>) {
    this.#targets = targets;
  }

  start(first: number): void {
    if (this.#numbers.has(first)) return;
    const visits: Visit[] = [this.#enter(first)];
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
      const target = this.#targets.get(visit.node)?.[visit.next];
      visit.next += 1;
      if (target === undefined) {
        visits.pop();
        this.#leave(visit.node, visits.at(-1)?.node);
      } else if (!this.#numbers.has(target)) visits.push(this.#enter(target));
      else if (this.#stacked.has(target)) this.#lower(visit.node, this.#numbers.get(target));
    }
  }

  #enter(node: number): Visit {
    this.#numbers.set(node, this.#numbers.size);
    this.#lowest.set(node, this.#numbers.size - 1);
    this.#stack.push(node);
    this.#stacked.add(node);
    return { node, next: 0 };
  }

  #leave(node: number, parent: number | undefined): void {
    if (parent !== undefined) this.#lower(parent, this.#lowest.get(node));
    if (this.#lowest.get(node) !== this.#numbers.get(node)) return;
    const found = new Set(this.#stack.splice(this.#stack.lastIndexOf(node)));
    for (const member of found) this.#stacked.delete(member);
    const isCycle = found.size > 1 || this.#targets.get(node)?.includes(node) === true;
    if (isCycle) this.cycles.push(found);
  }

  #lower(node: number, value = Infinity): void {
    this.#lowest.set(node, Math.min(this.#lowest.get(node) ?? Infinity, value));
  }
}

/** An edge whose both ends exist; the ends are places in the list of nodes. */
export interface GraphEdge {
  /** Index in the flow's `edges`. */
  readonly index: number;
  readonly source: number;
  readonly target: number;
}
