import { idsReadBy, type References } from './expressions/references.ts';
import type { FlowReading } from './reading.ts';
import type { FlowFault } from './flow.ts';
import type { GraphEdge } from './cycles.ts';
import { leadsToTask } from './task-edges.ts';
import { Reach } from './reach.ts';

/** Where an expression stands. */
interface Place {
  /** The node that has it, or whose end decides on it. */
  readonly node: number;
  /** It sees the output of that node: conditions of its edges do. */
  readonly seesOwn: boolean;
  /** The Loops around it, innermost first. */
  readonly loops: readonly number[];
  readonly at: Omit<FlowFault, 'code' | 'message'>;
}

/** Adds a fault for each name in a placeholder or condition that can have no value there. */
export function checkReferences(reading: FlowReading): void {
  new ReferenceCheck(reading).run();
}

class ReferenceCheck {
  readonly #reading: FlowReading;
  readonly #reach: Reach;
  readonly #places: ReadonlyMap<string, number>;

  constructor(reading: FlowReading) {
    this.#reading = reading;
    this.#reach = new Reach(reading.graph);
    this.#places = new Map(reading.graph.ids.map((id, place) => [id, place]));
  }

  run(): void {
    const { graph, settings: all, edges } = this.#reading;
    for (const { place, settings } of all) this.#checkSettings(place, settings.expressions);
    for (const end of graph.edges) {
      const references = edges.get(end.index)?.condition?.references;
      if (references) this.#check(references, this.#placeOfEdge(end));
    }
  }

  #checkSettings(
    node: number,
    expressions: readonly {
      readonly path: string;
      readonly references?: References;
      readonly faults: readonly { readonly code: string; readonly message: string }[];
    }[],
  ): void {
    const nodeId = this.#id(node);
    const loops = this.#reach.loopsAround(node);
    for (const { path, references, faults } of expressions) {
      const at = { nodeId, path };
      for (const fault of faults) this.#reading.faults.add({ ...fault, ...at });
      if (references) this.#check(references, { node, seesOwn: false, loops, at });
    }
  }

  #placeOfEdge({ index, source, target }: GraphEdge): Place {
    const isBodyEdge = this.#reading.graph.bodies.get(source)?.members.has(target) === true;
    const loops = this.#reach.loopsAround(source);
    return {
      node: source,
      seesOwn: !isBodyEdge,
      loops: isBodyEdge ? [source, ...loops] : loops,
      at: { nodeId: this.#id(source), edge: index },
    };
  }

  #check(references: References, place: Place): void {
    const isInLoop = place.loops.length > 0;
    if (isInLoop && references.usesLoopNode) {
      this.#add('within a Loop loop has only item and index; the node is nodes["loop"]', place);
    }
    for (const id of idsReadBy(references, isInLoop)) {
      const named = this.#places.get(id);
      this.#add(
        named === undefined ? this.#explainUnknown(id) : this.#explain(named, place),
        place,
      );
    }
  }

  #add(message: string | undefined, place: Place): void {
    if (message === undefined) return;
    this.#reading.faults.add({ code: 'UNKNOWN_REFERENCE', message, ...place.at });
  }

  /** Other names than this were looked up when the expression was read. */
  #explainUnknown(id: string): string | undefined {
    return id === 'loop' ? '`loop` is known within a Loop only' : undefined;
  }

  /** Why the node has no output at that place. */
  #explain(named: number, place: Place): string | undefined {
    const id = this.#id(named);
    const own = this.#id(place.node);
    const isOwn = named === place.node;
    if (place.loops.includes(named)) {
      return `the Loop ${id} has not ended within its body; a round is loop.item and loop.index`;
    }
    if (isOwn ? !place.seesOwn : !this.#reach.isBefore(named, place.node)) {
      return isOwn ? `${id} cannot read its own output` : this.#explainFar(named, own);
    }
    if (!this.#isEndedParallel(named, place.node)) {
      return `the Parallel ${id} has not ended when ${own} runs, because it waits for it`;
    }
    return undefined;
  }

  #explainFar(named: number, own: string): string {
    const id = this.#id(named);
    const loop = this.#reading.graph.loopOf.get(named);
    const isApart = loop !== undefined && !this.#loopsOf(own).includes(loop);
    if (isApart) return `${id} lies in the Loop ${this.#id(loop)}; read the results of that`;
    return `${id} does not come before ${own}: no path of edges leads from it to ${own}`;
  }

  #loopsOf(id: string): readonly number[] {
    const place = this.#places.get(id);
    return place === undefined ? [] : this.#reach.loopsAround(place);
  }

  /** A Parallel waits for its tasks, so that none of them, and nothing before them, can wait for it. */
  #isEndedParallel(named: number, node: number): boolean {
    const { graph, nodes, flow } = this.#reading;
    if (nodes[named]?.component.control !== 'parallel') return true;
    const begun = (graph.outgoing[named] ?? []).filter((end) => leadsToTask(flow, end));
    const tasks = begun.map(({ target }) => target);
    if (named === node) return tasks.length === 0;
    return !tasks.some((task) => task === node || this.#reach.isBefore(node, task));
  }

  #id(node: number): string {
    return this.#reading.graph.ids[node] ?? '';
  }
}
