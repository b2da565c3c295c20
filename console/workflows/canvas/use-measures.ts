import type { NodeChange } from '@xyflow/react';
import { useState } from 'react';
import type { CanvasNode } from '../flow/canvas-flow.ts';

type Measured = NonNullable<CanvasNode['measured']>;

export interface Measures {
  /** The nodes with what was measured of them: a node without is hidden until it is measured again. */
  readonly apply: (nodes: readonly CanvasNode[]) => CanvasNode[];
  readonly note: (changes: readonly NodeChange<CanvasNode>[]) => void;
}

/** How large the nodes of a canvas turned out to be. */
export function useMeasures(): Measures {
  const [sizes, setSizes] = useState<ReadonlyMap<string, Measured>>(new Map());
  return {
    apply: (nodes) =>
      nodes.map((node) => {
        const measured = sizes.get(node.id);
        return measured ? { ...node, measured } : node;
      }),
    note: (changes) => {
      const found = changes.flatMap((change): [string, Measured][] =>
        change.type === 'dimensions' && change.dimensions ? [[change.id, change.dimensions]] : [],
      );
      if (found.length > 0) setSizes((before) => new Map([...before, ...found]));
    },
  };
}
