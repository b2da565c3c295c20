import type { TimeSplit, TraceSummary } from './analysis.ts';
import { alignClocks, type ClockSkew } from './clock-skew.ts';
import { criticalPathOf, type CriticalPath } from './critical-path.ts';
import type { SpanHead } from './span.ts';
import { intervalOf, summaryOf } from './summary.ts';
import { splitTime } from './time-split.ts';
import { buildTree, type SpanTree } from './tree.ts';

/** A trace as a reader sees it: one tree by one clock, and what follows from it. */
export interface Study<S extends SpanHead = SpanHead> {
  readonly tree: SpanTree<S>;
  readonly skews: readonly ClockSkew[];
  /** Of the tree, from its start to its end. */
  readonly path: CriticalPath<S>;
  readonly split: TimeSplit;
  /** As it is stored, but for its times: these are the tree's. */
  readonly summary: TraceSummary;
}

/** Studies a trace by aligned clocks, or by those that its spans were sent with. */
export function study<S extends SpanHead>(
  spans: readonly S[],
  options: { readonly isRaw?: boolean | undefined } = {},
): Study<S> {
  const sent = buildTree(spans);
  const { tree, skews } = options.isRaw === true ? { tree: sent, skews: [] } : alignClocks(sent);
  const path = criticalPathOf(tree);
  // Who speaks for the trace is who does in its row.
  const summary = { ...summaryOf(sent), ...intervalOf(tree) };
  return { tree, skews, path, split: splitTime(path), summary };
}
