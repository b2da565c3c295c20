import type { Graph } from './graph.ts';

/** Which nodes lie before which, answered in no time. */
export class Reach {
  readonly #graph: Graph;
  readonly #before: readonly Uint32Array[];

  constructor(graph: Graph) {
    this.#graph = graph;
    const words = Math.ceil(graph.ids.length / 32);
    const before = graph.ids.map(() => new Uint32Array(words));
    for (const node of graph.order) {
      const own = before[node];
      for (const { source } of graph.incoming[node] ?? []) {
        const theirs = before[source];
        if (own && theirs) join(own, theirs, source);
      }
    }
    this.#before = before;
  }

  /** Whether some path leads from the first to the second, edges back to Loops aside. */
  isBefore(first: number, second: number): boolean {
    const word = this.#before[second]?.[first >>> 5] ?? 0;
    return ((word >>> (first & 31)) & 1) === 1;
  }

  /** The Loops around a node, innermost first. */
  loopsAround(node: number): readonly number[] {
    const around: number[] = [];
    let loop = this.#graph.loopOf.get(node);
    for (; loop !== undefined; loop = this.#graph.loopOf.get(loop)) around.push(loop);
    return around;
  }
}

/** Adds what lies before the source, and the source itself. */
function join(own: Uint32Array, theirs: Uint32Array, source: number): void {
  for (const [index, word] of theirs.entries()) own[index] = (own[index] ?? 0) | word;
  own[source >>> 5] = (own[source >>> 5] ?? 0) | (1 << (source & 31));
}
