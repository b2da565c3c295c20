import type { Component } from '../components/component.ts';
import type { Flow, FlowNode, Scope } from './flow.ts';

/** An edge with its guard compiled. */
export interface PlannedEdge {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string;
  /** Whether its CEL condition lets it be taken; true where it has none. Throws a Fault `invalid` when it cannot be evaluated. */
  isOpen(scope: Scope): boolean;
}

/** How inputs are merged over the settings of a node. */
export interface MergeOptions {
  /** Nothing in the inputs is rendered or evaluated. */
  readonly isAsIs?: boolean;
  /** What all placeholders see but those of secret settings: the scope without the secrets of outputs. */
  readonly shown?: Scope;
}

/** A node that is ready to be run. */
export interface PlannedNode {
  readonly node: FlowNode;
  readonly component: Component;
  /** Edges that lead here from outside, or, of a node of a loop's body, from within that body and its Loop. Edges back to a Loop are not among them. */
  readonly incoming: readonly PlannedEdge[];
  readonly outgoing: readonly PlannedEdge[];
  /** The Loop whose body it lies in; the innermost. */
  readonly loopId?: string;
  /** Of a Loop: the nodes of its body, without those of loops within; the edges that lead back to it. */
  readonly body?: { readonly nodeIds: readonly string[]; readonly back: readonly PlannedEdge[] };
  /** Of a Parallel: its direct successors, in the order of the edges. */
  readonly tasks?: readonly string[];
  /** Nodes that its placeholders and conditions name; each is an ancestor, or lies in the same loop before it. */
  readonly references: readonly string[];
  /**
   * The settings with every placeholder rendered, over which the execution's inputs for this node are
   * merged first (shallow; placeholders in them are rendered too, unless told). A lone placeholder keeps
   * its type. Fault `invalid` (`expression_failed`) with the path, or as `GivenFields` are refused.
   */
  render(
    scope: Scope,
    inputs: Readonly<Record<string, unknown>> | undefined,
    how?: MergeOptions,
  ): Readonly<Record<string, unknown>>;
}

/** A flow that was checked and compiled; immutable and shared by all executions of a version. */
export interface Plan {
  readonly flow: Flow;
  readonly nodes: ReadonlyMap<string, PlannedNode>;
  /** Nodes without incoming edges, outside every loop. */
  readonly roots: readonly string[];
  /** Nodes without outgoing edges, outside every loop: their outputs are the result. */
  readonly ends: readonly string[];
  /** Keys of `inputs` that placeholders and conditions read and that are no nodes. */
  readonly inputNames?: readonly string[];
}
