import { createContext, useContext } from 'react';
import type { Components, Flow, FlowFault } from '../flow/flow.ts';
import type { NodeState } from '../flow/runs.ts';

/** What the nodes on a canvas are drawn with beside themselves. */
export interface CanvasFacts {
  readonly flow: Flow;
  readonly components: Components;
  readonly faults: readonly FlowFault[];
  /** How nodes stand, of an execution. */
  readonly states?: ReadonlyMap<string, NodeState> | undefined;
}

const nothing: CanvasFacts = { flow: { nodes: [] }, components: new Map(), faults: [] };

export const CanvasContext = createContext(nothing);

export function useCanvasFacts(): CanvasFacts {
  return useContext(CanvasContext);
}
