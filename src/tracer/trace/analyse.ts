import type { AnalysedSpan, TraceAnalysis } from './analysis.ts';
import { isAnswer, isCall, isServed } from './calls.ts';
import { alignClocks } from './clock-skew.ts';
import { criticalPathOf, lastingPath } from './critical-path.ts';
import { selfTimeOf } from './self-time.ts';
import type { SpanHead } from './span.ts';
import { summaryOf } from './summary.ts';
import { splitTime } from './time-split.ts';
import { buildTree, type SpanTree, type TreeNode } from './tree.ts';

/**
 * Finds out everything about a trace, the same whatever order its spans come in. Where clocks of
 * hosts contradict each other, self times and the parts of the split are those of the aligned clocks;
 * the summary's times are those that were sent, and the split adds up to them. Throws on a trace
 * without spans.
 */
export function analyse(heads: readonly SpanHead[]): TraceAnalysis {
  const tree = buildTree(heads);
  const summary = summaryOf(tree);
  const aligned = alignClocks(tree).tree;
  const path = lastingPath(criticalPathOf(aligned), summary.endUs - summary.startUs);
  return { summary, split: splitTime(path), spans: analysedSpansOf(tree, aligned) };
}

/** Each span as it was sent, with its self time by the aligned clocks. */
export function analysedSpansOf(tree: SpanTree, aligned: SpanTree): AnalysedSpan[] {
  const answered = answeredCalls(tree);
  return tree.nodes.map((node) => {
    const { span, parent } = node;
    const timed = aligned === tree ? node : (aligned.byId.get(span.spanId) ?? node);
    return {
      head: span,
      parent: parent?.span,
      selfUs: selfTimeOf(timed),
      isEntry: parent === undefined || isServed(span) || parent.span.service !== span.service,
      isExternalCall: isCall(span) && !answered.has(node),
    };
  });
}

/** Calls below which another service, or another process of the same, answered. */
function answeredCalls(tree: SpanTree): ReadonlySet<TreeNode> {
  const answered = new Set<TreeNode>();
  for (let at = tree.topDown.length - 1; at >= 0; at -= 1) {
    const node = tree.topDown[at];
    if (node?.parent === undefined) continue;
    if (answered.has(node) || isAnswer(node.span, node.parent.span)) answered.add(node.parent);
  }
  return answered;
}
