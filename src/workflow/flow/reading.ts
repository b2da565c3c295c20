import type { Component } from '../components/component.ts';
import type { CompiledCondition } from './expressions/conditions.ts';
import type { Flow, FlowEdge, FlowNode } from './flow.ts';
import type { Graph } from './graph.ts';
import { FaultList } from './fault-list.ts';
import { Settings } from './settings.ts';

/** A node whose component is known. */
export interface ReadNode {
  readonly node: FlowNode;
  readonly component: Component;
  readonly settings: Settings;
}

/** Settings as they stand in the flow, and where. */
export interface PlacedSettings {
  /** In `graph.ids`. */
  readonly place: number;
  readonly settings: Settings;
}

/** An edge whose both ends are known. */
export interface ReadEdge {
  readonly edge: FlowEdge;
  readonly condition?: CompiledCondition;
}

/** A flow that was looked through once, for its faults as well as for its plan. */
export interface FlowReading {
  readonly flow: Flow;
  readonly faults: FaultList;
  readonly graph: Graph;
  /** By place in `graph.ids`; absent where the component is not known. */
  readonly nodes: readonly (ReadNode | undefined)[];
  /** Of every node, also where its component is not known or its id is another's. */
  readonly settings: readonly PlacedSettings[];
  /** By index in the flow's `edges`. */
  readonly edges: ReadonlyMap<number, ReadEdge>;
}
