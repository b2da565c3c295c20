import type { SpanHead } from '../trace/span.ts';
import type { SpanTree, TreeNode } from '../trace/tree.ts';
import type { Step } from './what-if-steps.ts';

interface ProjectedNode extends TreeNode {
  readonly parent: ProjectedNode | undefined;
  readonly children: ProjectedNode[];
}

/** The tree with its spans as they were replayed; times begin with the path. */
export function projectedTree(tree: SpanTree, steps: readonly Step[]): SpanTree {
  const beganUs = new Map<Step, number>();
  const byNode = new Map<TreeNode, ProjectedNode>();
  const nodes: ProjectedNode[] = [];
  for (const step of steps) {
    const { node, parent, beginsUs, lastsUs } = step;
    const startUs = ((parent && beganUs.get(parent)) ?? 0) + beginsUs;
    beganUs.set(step, startUs);
    if (!node) continue;
    const above = node.parent && byNode.get(node.parent);
    const span: SpanHead = { ...node.span, startUs, endUs: startUs + lastsUs };
    const projected: ProjectedNode = { ...node, span, parent: above, children: [] };
    above?.children.push(projected);
    byNode.set(node, projected);
    nodes.push(projected);
  }
  nodes.sort((a, b) => a.span.startUs - b.span.startUs || a.index - b.index);
  return {
    nodes,
    roots: tree.roots.flatMap((root) => byNode.get(root) ?? []),
    topDown: nodes,
    byId: new Map(nodes.map((node) => [node.span.spanId, node])),
  };
}
