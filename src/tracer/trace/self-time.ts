import type { TreeNode } from './tree.ts';

/** A span's duration without what its children cover: the union of their intervals, clipped to it. */
export function selfTimeOf(node: TreeNode): number {
  const { startUs, endUs } = node.span;
  let selfUs = endUs - startUs;
  let coveredUs = startUs;
  for (const { span } of node.children) {
    const fromUs = Math.max(span.startUs, coveredUs);
    const toUs = Math.min(span.endUs, endUs);
    if (toUs <= fromUs) continue;
    selfUs -= toUs - fromUs;
    coveredUs = toUs;
  }
  return selfUs;
}
