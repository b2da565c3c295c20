import { Fault } from '../../kit/errors.ts';
import type { Flow, FlowEdge, FlowFault, FlowNode } from '../flow/flow.ts';
import { joinLinks, placeholderNode, type Draft, type DraftStep } from './draft.ts';
import type { StepReport } from './report.ts';

/** A draft as a flow that holds, and what became of each step. */
export interface MendedFlow {
  readonly flow: Flow;
  readonly steps: readonly StepReport[];
  readonly warnings: readonly string[];
}

const roundsMax = 60;

/**
 * Makes a flow of a draft that can be stored whatever the draft holds: an edge that cannot be is left
 * out, a node that cannot be becomes a Placeholder, and the report says so. Fault `invalid`
 * (`invalid_flow`) when even that does not help.
 */
export function mendDraft(draft: Draft, check: (flow: Flow) => readonly FlowFault[]): MendedFlow {
  const mending = new Mending(draft);
  for (let round = 0; round < roundsMax; round += 1) {
    const faults = check(mending.flow());
    if (faults.length === 0) return mending.result();
    mending.mend(faults);
  }
  throw hopeless(check(mending.flow()));
}

function hopeless(faults: readonly FlowFault[]): Fault {
  const message = `the document cannot be made a flow: ${faults[0]?.message ?? 'unknown'}`;
  return new Fault('invalid', message, { reason: 'invalid_flow', detail: { faults } });
}

class Mending {
  readonly #draft: Draft;
  readonly #steps: Map<string, DraftStep>;
  readonly #warnings: string[];
  #edges: readonly FlowEdge[];

  constructor(draft: Draft) {
    this.#draft = draft;
    this.#steps = new Map(draft.steps.map((step) => [step.key, step]));
    this.#warnings = [...draft.warnings];
    const { kept, cut } = cutCycles(
      joinLinks(draft),
      (id) => this.#find(id)?.node?.type === 'Loop',
    );
    this.#edges = kept;
    for (const { source, target } of cut) this.#noteCut(source, target);
  }

  flow(): Flow {
    const { settings } = this.#draft;
    const nodes = [...this.#steps.values()].flatMap((step, place): FlowNode[] => {
      if (!step.node) return [];
      const { position = { x: (place % 8) * 240, y: Math.floor(place / 8) * 160 } } = step;
      return [{ ...step.node, position }];
    });
    return { nodes, edges: this.#edges, ...(settings ? { settings } : {}) };
  }

  result(): MendedFlow {
    const steps = [...this.#steps.values()].map(({ source, type, node, status, note }) => ({
      source,
      type,
      ...(node ? { nodeId: node.id } : {}),
      status,
      ...(note === undefined ? {} : { note }),
    }));
    return { flow: this.flow(), steps, warnings: this.#warnings };
  }

  mend(faults: readonly FlowFault[]): void {
    const dropped = new Set(faults.flatMap(({ edge }) => (edge === undefined ? [] : [edge])));
    for (const index of dropped) {
      const edge = this.#edges[index];
      if (edge) this.#warnings.push(`the way from ${edge.source} to ${edge.target} was left out`);
    }
    this.#edges = this.#edges.filter((_, index) => !dropped.has(index));
    const misfits = faults.filter(({ edge }) => edge === undefined);
    // What is wrong with one node often is why another one is wrong.
    const ofNodes = new Map(misfits.toReversed().map((fault) => [fault.nodeId, fault]));
    for (const [nodeId, fault] of ofNodes) {
      if (nodeId === undefined || !this.#replace(nodeId, fault.message)) throw hopeless(faults);
    }
  }

  /** False when there is no such node, or when it is a Placeholder already. */
  #replace(id: string, reason: string): boolean {
    const step = this.#find(id);
    if (!step?.node || step.node.type === 'Placeholder') return false;
    const handles = this.#edges
      .filter((edge) => edge.source === id && edge.sourceHandle !== undefined)
      .map(({ sourceHandle }) => sourceHandle ?? '');
    const node = placeholderNode(step, reason, step.settings ?? step.node.data);
    const data = {
      ...node.data,
      ...(handles.length > 0 ? { handles: [...new Set(handles)] } : {}),
    };
    const replaced = { ...step, status: 'unsupported' as const, note: reason };
    this.#steps.set(step.key, { ...replaced, node: { ...node, data, id } });
    return true;
  }

  #noteCut(source: string, target: string): void {
    const why =
      source === target
        ? 'straight back to itself'
        : `back to ${target}, which only a Loop over items may do`;
    const note = `it led ${why}; that way was left out`;
    const step = this.#find(source);
    if (step) this.#steps.set(step.key, { ...step, status: 'unsupported', note });
    this.#warnings.push(`${source}: ${note}`);
  }

  #find(id: string): DraftStep | undefined {
    return [...this.#steps.values()].find(({ node }) => node?.id === id);
  }
}

/** Takes out the edges that close a cycle in which no Loop lies, or nothing but a Loop. */
function cutCycles(
  edges: readonly FlowEdge[],
  isLoop: (id: string) => boolean,
): { readonly kept: readonly FlowEdge[]; readonly cut: readonly FlowEdge[] } {
  const kept: FlowEdge[] = [];
  const cut: FlowEdge[] = [];
  const targets = new Map<string, string[]>();
  for (const edge of edges) {
    const { source, target } = edge;
    // A way through a Loop ends there: it leads back by right.
    const isThroughLoop = isLoop(target) || isLoop(source);
    const isClosing = source === target || (!isThroughLoop && leads(target, source, targets));
    (isClosing ? cut : kept).push(edge);
    if (isClosing || isLoop(target)) continue;
    targets.set(source, [...(targets.get(source) ?? []), target]);
  }
  return { kept, cut };
}

function leads(from: string, to: string, targets: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set([from]);
  // The set grows while it is walked.
  for (const id of seen) {
    if (id === to) return true;
    for (const target of targets.get(id) ?? []) seen.add(target);
  }
  return false;
}
