import type { TimeSplit, TraceSummary } from './analysis.ts';
import { alignClocks, type ClockSkew } from './clock-skew.ts';
import { criticalPathOf, lastingPath, type CriticalPath } from './critical-path.ts';
import type { SpanHead } from './span.ts';
import { summaryOf } from './summary.ts';
import { splitTime } from './time-split.ts';
import { buildTree, type SpanTree } from './tree.ts';

/** A trace as a reader sees it: one tree by one clock, and what follows from it. */
export interface Study<S extends SpanHead = SpanHead> {
  readonly tree: SpanTree<S>;
  readonly skews: readonly ClockSkew[];
  /** Of the tree, and exactly as long as the summary says: at its end cut, or idle. */
  readonly path: CriticalPath<S>;
  readonly split: TimeSplit;
  /** As it is stored: by the times that were sent. */
  readonly summary: TraceSummary;
}

/** Studies a trace by aligned clocks, or by those that its spans were sent with. */
export function study<S extends SpanHead>(
  spans: readonly S[],
  options: { readonly isRaw?: boolean | undefined } = {},
): Study<S> {
  const sent = buildTree(spans);
  const { tree, skews } = options.isRaw === true ? { tree: sent, skews: [] } : alignClocks(sent);
  const summary = summaryOf(sent);
  const path = lastingPath(criticalPathOf(tree), summary.endUs - summary.startUs);
  return { tree, skews, path, split: splitTime(path), summary };
}
